import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Starts one PostgreSQL for the whole run and migrates the template that every test file clones. */
const globalSetup = ['test/kit/global-setup.ts'].filter((file) => existsSync(new URL(file, import.meta.url)))

/** Tests also wait, for a page, a process or a lease: on two processors a third worker uses that time. */
const workers = Math.max(3, Math.min(4, availableParallelism()))

/** Files that take long for their size. Without times of a former run the largest files run first, and these would be last. */
const SLOW = [
  'test/flows/start-up.test.ts',
  'test/flows/demo.test.ts',
  'test/documented-commands.long.test.ts',
  'test/torture/auth-rows.long.test.ts',
  'test/flows/node-sdks.test.ts',
  'test/flows/webhooks-under-faults.long.test.ts',
  'test/flows/one-issue-many-writers.long.test.ts',
  'test/e2e/first-load.e2e.test.ts',
  'test/e2e/package.long.e2e.test.ts',
  'test/e2e/issues-bulk.e2e.test.ts',
  'test/e2e/layout.e2e.test.ts',
]

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isSlow = ({ moduleId }: TestSpecification): boolean => SLOW.some((name) => moduleId.endsWith(name))
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))]
  }
}

const shared = {
  environment: 'node',
  pool: 'forks' as const,
  testTimeout: 90_000,
  hookTimeout: 120_000,
  teardownTimeout: 20_000,
  restoreMocks: true,
  setupFiles: 'test/kit/seed.ts',
  // More room for young objects: fewer collections, which were a seventh of the workers' processor time.
  execArgv: ['--max-semi-space-size=64', '--min-semi-space-size=16'],
}

/** Node loads the modules itself, as it does for `npm start`: half the processor time of Vite's transformation. */
const native = { viteModuleRunner: false, nodeLoader: false }

const excluded = [
  '**/node_modules/**',
  'web/dist/**',
  'data/**',
  'test/fixtures/**',
  // `npm run test:long` (test/kit/long.ts).
  ...(process.env['TEST_LONG'] === '1' ? [] : ['**/*.long.test.ts', '**/*.long.e2e.test.ts']),
]

export default defineConfig({
  test: {
    // At the root, not per project: it runs once, and both projects get what it provides.
    globalSetup,
    sequence: { sequencer: SlowFirst },
    projects: [
      {
        test: {
          ...shared,
          name: 'unit',
          include: [
            'server/**/*.test.ts',
            'shared/**/*.test.ts',
            'bench/**/*.test.ts',
            'scripts/**/*.test.ts',
            'test/**/*.test.ts',
          ],
          exclude: [...excluded, 'test/e2e/**'],
          experimental: native,
          // Files share processes: loading the server takes longer than most files' tests. Every file cleans up behind itself.
          isolate: false,
          maxWorkers: workers,
        },
      },
      {
        // Apart, because Node reads no JSX.
        test: {
          ...shared,
          name: 'web',
          include: ['web/**/*.test.{ts,tsx}'],
          exclude: excluded,
          isolate: false,
          maxWorkers: workers,
        },
      },
      {
        test: {
          ...shared,
          name: 'e2e',
          include: ['test/e2e/**/*.e2e.test.ts'],
          exclude: excluded,
          // Builds the dashboard once: files run in parallel, and none may replace it under another's service.
          globalSetup: ['test/e2e/global-setup.ts'],
          experimental: native,
          // Files of a process share the loaded server and the browser; each has its own service and database.
          isolate: false,
          // After the others: a browser, its service and the pages' timers need a quiet machine.
          sequence: { groupOrder: 1 },
          maxWorkers: workers,
          // With E2E_SLOWDOWN (test/e2e/browser.ts) everything may take that much longer.
          testTimeout: 120_000 * Number(process.env.E2E_SLOWDOWN ?? '1'),
          hookTimeout: 180_000,
        },
      },
      // `npm run pictures`: takes pictures and asserts nothing.
      ...((process.env.PICTURES_DIR ?? '') === ''
        ? []
        : [
            {
              test: {
                ...shared,
                name: 'pictures',
                include: ['test/e2e/pictures/take-pictures.ts'],
                globalSetup: ['test/e2e/global-setup.ts'],
                hookTimeout: 600_000,
              },
            },
          ]),
    ],
  },
})
