// Medusa as its documentation advises for production: PostgreSQL, and Redis for the cache, events, workflows and locks.
const { defineConfig } = require('@medusajs/framework/utils');

const redisUrl = process.env.REDIS_URL;
const provider = (name) => ({ resolve: `@medusajs/${name}`, id: name, is_default: true, options: { redisUrl } });

module.exports = defineConfig({
  projectConfig: {
    databaseUrl: process.env.DATABASE_URL,
    redisUrl,
    databaseDriverOptions: { ssl: false, sslmode: 'disable' },
    http: {
      storeCors: 'http://localhost:8000',
      adminCors: 'http://localhost:9000',
      authCors: 'http://localhost:9000',
      jwtSecret: 'a secret of the benches',
      cookieSecret: 'a secret of the benches',
    },
  },
  admin: { disable: true },
  featureFlags: { caching: true },
  modules: [
    { resolve: '@medusajs/medusa/caching', options: { providers: [provider('caching-redis')] } },
    { resolve: '@medusajs/medusa/event-bus-redis', options: { redisUrl } },
    { resolve: '@medusajs/medusa/workflow-engine-redis', options: { redis: { redisUrl } } },
    { resolve: '@medusajs/medusa/locking', options: { providers: [
      { ...provider('locking-redis'), resolve: '@medusajs/medusa/locking-redis' },
    ] } },
  ],
});
