const isNightly = process.env['TEST_PROPERTIES'] === 'nightly'

/** How many random cases a property is tried with: by default, and with `npm run torture -- properties`, once a night. */
export const cases = (byDefault: number, nightly: number): number => (isNightly ? nightly : byDefault)

/** How long such a test may take. */
export const PROPERTY_TIMEOUT_MS = isNightly ? 3_600_000 : 300_000
