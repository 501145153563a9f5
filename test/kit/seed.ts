import fc from 'fast-check'

/**
 * Vitest's setup file: random cases are the same in every run, so a run fails for what changed and not by luck.
 * `npm run test:random` and `npm run torture -- properties` look for new counterexamples with other seeds.
 */
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env['TEST_SEED'] ?? '1') })
