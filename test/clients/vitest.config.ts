import { defineConfig } from 'vitest/config'

export default defineConfig({
  root: new URL('../..', import.meta.url).pathname,
  test: {
    environment: 'node',
    pool: 'forks',
    globalSetup: ['test/kit/global-setup.ts'],
    include: ['test/clients/*.clients.ts'],
    // Toolchains compile and a browser runs: one file at a time on two cores.
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 180_000,
    teardownTimeout: 20_000,
  },
})
