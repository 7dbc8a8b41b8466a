import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

export interface Message {
  headers: IncomingHttpHeaders;
  body: string;
}

/** Receives one message. */
export async function receiver(): Promise<{ url: string; received: Promise<Message>; close: () => void }> {
  let arrived: (message: Message) => void = () => {};
  const received = new Promise<Message>((resolve) => { arrived = resolve; });
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => { body += chunk; }).on("end", () => {
      response.end();
      arrived({ headers: request.headers, body });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/in`, received, close: () => server.close() };
}
