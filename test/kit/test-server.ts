import { startService, type Service } from '#server/cli/service.ts'
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
 * deliveries are sent only with `deliveries: true`.
 */
export async function testServer(
  options: TestAppOptions & { digestion?: 'inline' | 'manual'; jobs?: boolean; deliveries?: boolean } = {},
): Promise<TestServer> {
  const test = await testApp(options)
  const service = await startService(test.app, test.connectionString, {
    digestion: options.digestion ?? 'manual',
    jobs: options.jobs ?? false,
    ...(options.deliveries === true ? {} : { channels: [] }),
  })
  test.onClose(() => service.close())
  const digest = options.digestion === 'inline' ? undefined : () => service.drain()
  return { ...test, ...productOf(test.app, service.publicUrl, digest), service, url: service.publicUrl }
}
