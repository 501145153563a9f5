/**
 * Whether tests run that take too long for every change: `npm run test:long`. A file that has only such tests is
 * named `*.long.test.ts` instead (vitest.config.ts).
 */
export const RUNS_LONG = process.env['TEST_LONG'] === '1'
