const isNightly = process.env['TEST_PROPERTIES'] === 'nightly'

/** The number of random cases per property: by default, and nightly with `npm run torture -- properties`. */
export const cases = (byDefault: number, nightly: number): number => (isNightly ? nightly : byDefault)

/** The time limit of such a test. */
export const PROPERTY_TIMEOUT_MS = isNightly ? 3_600_000 : 300_000
