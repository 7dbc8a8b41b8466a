import { createServer } from "node:http";
import { Webhook } from "standardwebhooks";

const hook = new Webhook(process.env.SUNDRY_WEBHOOK_SECRET);
const [host, port] = process.env.ADDR.split(":");

createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  let event;
  try {
    event = hook.verify(Buffer.concat(chunks).toString(), request.headers);
  } catch {
    return response.writeHead(401).end();
  }
  if (event.type !== "customer.access_changed") return response.writeHead(204).end(); // a test, say
  try {
    const customer = encodeURIComponent(event.data.externalCustomerId);
    const access = await fetch(`${process.env.SUNDRY_URL}/v1/customer-access/${customer}`, {
      headers: { Authorization: `Bearer ${process.env.SUNDRY_KEY}` },
    });
    if (!access.ok) throw new Error(`responded ${access.status}`);
    console.log(await access.text()); // keep it: it is what the customer may use from now on
    response.writeHead(204).end();
  } catch {
    response.writeHead(502).end(); // anything but 2xx: the event comes again
  }
}).listen(Number(port), host);
