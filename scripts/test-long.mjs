/** `npm run test:long [-- vitest arguments]`: as `npm test`, with the tests that take too long for it. */
import { runVitest } from './vitest.mjs'

await runVitest(process.argv.slice(2), { env: { TEST_LONG: '1' } })
