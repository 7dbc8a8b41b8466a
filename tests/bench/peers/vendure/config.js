// Vendure for digital goods: PostgreSQL, its database job queue, no shipping step, payments that settle at once.
const {
  configureDefaultOrderProcess, dummyPaymentHandler, DefaultJobQueuePlugin, DefaultLogger, LogLevel,
} = require('@vendure/core');

const database = new URL(process.env.DATABASE_URL);

exports.config = {
  apiOptions: {
    hostname: '127.0.0.1', port: Number(process.env.PORT), adminApiPath: 'admin-api', shopApiPath: 'shop-api',
  },
  authOptions: {
    tokenMethod: ['bearer'],
    requireVerification: false,
    superadminCredentials: { identifier: 'superadmin', password: 'a secret of the benches' },
    cookieOptions: { secret: 'a secret of the benches' },
  },
  dbConnectionOptions: {
    type: 'postgres',
    host: database.hostname,
    port: Number(database.port),
    username: database.username,
    password: database.password,
    database: database.pathname.slice(1),
    synchronize: Boolean(process.env.SYNCHRONIZE),
    migrations: [],
    logging: false,
    poolSize: 20,
  },
  orderOptions: { process: [configureDefaultOrderProcess({ arrangingPaymentRequiresShipping: false })] },
  paymentOptions: { paymentMethodHandlers: [dummyPaymentHandler] },
  plugins: [DefaultJobQueuePlugin.init({ useDatabaseForBuffer: true })],
  logger: new DefaultLogger({ level: LogLevel.Warn }),
};
