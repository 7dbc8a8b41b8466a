// Fills an empty database with a shop that sells one product for 5.00 USD without stock, and prints what a buyer has to
// name.
process.env.SYNCHRONIZE = 'yes';
const { bootstrap, Populator, LanguageCode } = require('@vendure/core');
const { config } = require('./config');

async function seed() {
  const app = await bootstrap(config);
  await app.get(Populator).populateInitialData({
    defaultLanguage: LanguageCode.en,
    defaultZone: 'Europe',
    countries: [{ name: 'Germany', code: 'DE', zone: 'Europe' }],
    taxRates: [{ name: 'Standard', percentage: 20 }],
    shippingMethods: [],
    collections: [],
    paymentMethods: [{
      name: 'dummy',
      handler: { code: 'dummy-payment-handler', arguments: [{ name: 'automaticSettle', value: 'true' }] },
    }],
  });

  let token = '';
  const ask = async (query, variables) => {
    const response = await fetch(`http://127.0.0.1:${config.apiOptions.port}/admin-api`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
      body: JSON.stringify({ query, variables }),
    });
    token = response.headers.get('vendure-auth-token') || token;
    const { data, errors } = await response.json();
    if (errors) throw new Error(JSON.stringify(errors));
    return data;
  };
  const { identifier, password } = config.authOptions.superadminCredentials;
  await ask('mutation($u: String!, $p: String!) { login(username: $u, password: $p) { __typename } }',
    { u: identifier, p: password });
  const { createProduct } = await ask(`mutation { createProduct(input: {
    translations: [{ languageCode: en, name: "Field guide", slug: "field-guide", description: "" }] }) { id } }`);
  const { taxCategories } = await ask('{ taxCategories { items { id } } }');
  const { createProductVariants } = await ask(
    'mutation($input: [CreateProductVariantInput!]!) { createProductVariants(input: $input) { id } }',
    { input: [{
      productId: createProduct.id,
      sku: 'field-guide',
      price: 500,
      trackInventory: 'FALSE',
      taxCategoryId: taxCategories.items[0].id,
      translations: [{ languageCode: 'en', name: 'Field guide' }],
    }] });
  const { paymentMethods } = await ask('{ paymentMethods { items { code } } }');
  console.log(`SEEDED ${JSON.stringify({
    variant: createProductVariants[0].id, method: paymentMethods.items[0].code,
  })}`);
  await app.close();
  process.exit(0);
}

seed().catch((err) => {
  console.error(err);
  process.exit(1);
});
