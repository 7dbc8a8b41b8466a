import { defineConfig } from "@kubb/core";
import { pluginClient } from "@kubb/plugin-client";
import { pluginOas } from "@kubb/plugin-oas";
import { pluginTs } from "@kubb/plugin-ts";

export default defineConfig({
  input: { path: "openapi-client.json" }, // the command's argument replaces it
  output: { path: "client", format: false, lint: false },
  plugins: [
    pluginOas({ validate: false, generators: [] }),
    pluginTs({ output: { path: "types.ts", barrelType: false } }),
    pluginClient({ output: { path: "client.ts", barrelType: false }, client: "fetch", bundle: true }),
  ],
});
