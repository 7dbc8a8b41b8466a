// Fills a migrated database with a shop that sells one digital product for 5.00 USD, without stock and shipping, and
// prints what a buyer has to name.
const flows = require('@medusajs/medusa/core-flows');

exports.default = async ({ container }) => {
  const run = async (flow, input) => (await flow(container).run({ input })).result;

  const [channel] = await run(flows.createSalesChannelsWorkflow, { salesChannelsData: [{ name: 'Shop' }] });
  const [region] = await run(flows.createRegionsWorkflow, { regions: [
    { name: 'Germany', currency_code: 'usd', countries: ['de'], payment_providers: ['pp_system_default'] },
  ] });
  await run(flows.createTaxRegionsWorkflow, [
    { country_code: 'de', provider_id: 'tp_system', default_tax_rate: { name: 'Standard', code: 'std', rate: 20 } },
  ]);
  const [key] = await run(flows.createApiKeysWorkflow, { api_keys: [
    { title: 'Shop', type: 'publishable', created_by: '' },
  ] });
  await run(flows.linkSalesChannelsToApiKeyWorkflow, { id: key.id, add: [channel.id] });
  const [product] = await run(flows.createProductsWorkflow, { products: [{
    title: 'Field guide',
    handle: 'field-guide',
    status: 'published',
    options: [{ title: 'Format', values: ['PDF'] }],
    sales_channels: [{ id: channel.id }],
    variants: [{
      title: 'PDF',
      sku: 'field-guide',
      manage_inventory: false,
      options: { Format: 'PDF' },
      prices: [{ amount: 5, currency_code: 'usd' }],
    }],
  }] });
  console.log(`SEEDED ${JSON.stringify({ key: key.token, region: region.id, variant: product.variants[0].id })}`);
};
