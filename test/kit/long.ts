/** Whether tests run that take too long for the ten minutes of `npm test`: `npm run test:long`. */
export const RUNS_LONG = process.env['TEST_LONG'] === '1'
