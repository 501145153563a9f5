/**
 * `npm run test:package`: the package's flow as in `npm test`, but with its dependencies installed by npm from the registry.
 */
import { runVitest } from './vitest.mjs'

await runVitest(['--project', 'e2e', 'test/e2e/package.long.e2e.test.ts', ...process.argv.slice(2)], {
  env: { PACKAGE_FROM_REGISTRY: '1' },
})
