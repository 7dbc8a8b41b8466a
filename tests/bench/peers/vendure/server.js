const { bootstrap } = require('@vendure/core');

bootstrap(require('./config').config).catch((err) => {
  console.error(err);
  process.exit(1);
});
