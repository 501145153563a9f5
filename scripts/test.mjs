/**
 * `npm test`: everything, on the pinned Node, first what needs no browser (`npm run test:unit`), then what does
 * (`npm run test:e2e`). Arguments go to vitest (`npm test -- server/kernel`). The last line printed is
 * `N passed, N failed`; the exit code is 0 only when nothing failed.
 */
import { runVitest } from './vitest.mjs'

runVitest(process.argv.slice(2))
