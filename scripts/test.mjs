/**
 * `npm test`: everything, on the pinned Node; first tests without a browser (`npm run test:unit`), then tests with one
 * (`npm run test:e2e`). Arguments go to vitest (`npm test -- server/platform/kernel`). The last line printed is `N passed, N
 * failed`; the exit code is 0 only when nothing failed.
 */
import { runVitest } from './vitest.mjs'

await runVitest(process.argv.slice(2))
