// What the page scripts and the programs of the examples are held to; names that nobody defines are for the type checker.
import js from "@eslint/js";

export default [
  js.configs.recommended,
  {
    rules: {
      "no-undef": "off",
      "eqeqeq": "error",
      "no-eval": "error",
      "no-implicit-coercion": "error",
      "no-shadow": "error",
      "no-var": "error",
      "prefer-const": "error",
      "require-await": "error",
    },
  },
];
