import { startService, type Service } from '#server/service/cli/service.ts'
import type { CanaryTiming } from '#server/service/canary/create-canary.ts'
import type { App } from '#server/platform/context/app.ts'
import { newId } from '#server/platform/kernel/ids.ts'
import { publish } from '#server/platform/storage/bus.ts'
import { productOf, type Product } from './product.ts'
import { testApp, type TestApp, type TestAppOptions } from './test-app.ts'

export type TestServer = TestApp &
  Product & {
    readonly service: Service
    /** `http://127.0.0.1:<port>`. */
    readonly url: string
  }

/**
 * The whole service on a free port. With `digestion: 'manual'` (the default) call `service.drain()`; with `inline`,
 * events are digested as they arrive. Background jobs run only with `jobs: true`, and
 * deliveries are sent only with `deliveries: true`. The canary runs only where the environment switches it on, and looks
 * only in `service.canary.tick()` without `canary`.
 */
export async function testServer(
  options: TestAppOptions & {
    digestion?: 'inline' | 'manual'
    jobs?: boolean
    deliveries?: boolean
    canary?: CanaryTiming
  } = {},
): Promise<TestServer> {
  const test = await testApp(options)
  const started = await startService(test.app, test.connectionString, {
    digestion: options.digestion ?? 'manual',
    jobs: options.jobs ?? false,
    canary: options.canary ?? null,
    ...(options.deliveries === true ? {} : { channels: [] }),
  })
  test.onClose(() => started.close())
  const service: Service = {
    ...started,
    async drain() {
      await heardEverything(test.app)
      await started.drain()
    },
  }
  const digest = options.digestion === 'inline' ? undefined : () => service.drain()
  return { ...test, ...productOf(test.app, service.publicUrl, digest), service, url: service.publicUrl }
}

/** Digestion learns of changed settings by a message, which a busy machine delivers late. */
async function heardEverything({ bus, db }: App): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const id = newId()
  const stops = [bus.on('test', (payload) => void (payload === id && resolve())), bus.onGap(resolve)]
  await publish(db, 'test', id)
  await promise
  for (const stop of stops) stop()
}
