import { expect, test } from 'vitest'
import type { Crumb, FactEvent, Frame } from './facts.ts'
import { whyBlocked, commonCrumbs } from './find-cause.ts'
import { failingFrame, readFileName, describePlace, suspectCommits } from './frames.ts'
import { cutLine, quoted, spanText } from './plain.ts'

const frame = (fields: Partial<Frame>): Frame => ({
  filename: null,
  abs_path: null,
  function: null,
  module: null,
  package: null,
  lineno: null,
  in_app: true,
  context_line: null,
  ...fields,
})

test.each([
  ['app:///src/cart.ts', 'src/cart.ts'],
  ['https://shop.example:8443/static/app.js?v=1', 'static/app.js'],
  ['webpack://shop/./src/cart.ts', 'src/cart.ts'],
  ['webpack-internal:///./src/cart.ts', 'src/cart.ts'],
  ['package:shop/cart.dart', 'shop/cart.dart'],
  ['../src/cart.ts', 'src/cart.ts'],
  ['src\\cart.cs', 'src/cart.cs'],
  ['<anonymous>', null],
])('the file of %s is %s', (filename, file) => {
  expect(readFileName(frame({ filename }))).toBe(file)
})

test('the frame that fails is the innermost of the app, else the innermost', () => {
  const [own, library] = [frame({ function: 'own' }), frame({ function: 'library', in_app: false })]
  expect(failingFrame([[own, library]])?.function).toBe('own')
  expect(failingFrame([[library], [own, library]])?.function).toBe('own')
  expect(failingFrame([[library]])?.function).toBe('library')
  expect(failingFrame([])).toBeNull()
  expect(describePlace(frame({ function: '?', filename: 'a.js', lineno: 3 }))).toBe('a.js:3')
  expect(describePlace(frame({ function: 'onCreate', module: 'com.shop.Main', filename: 'Main.kt', lineno: 3 }))).toBe(
    '“Main.onCreate” (Main.kt:3)',
  )
})

test('commits are suspected for whole names of paths', () => {
  const commit = (id: string, path: string) => ({
    id,
    message: null,
    author_name: null,
    timestamp: null,
    patch_set: [{ path }],
  })
  const commits = [
    commit('a', 'web/src/cart.ts'),
    commit('b', 'web/src/oldcart.ts'),
    commit('c', 'cart.ts'),
    commit('d', 'app/src/main/java/com/shop/Cart.kt'),
  ]
  expect(suspectCommits(frame({ filename: 'src/cart.ts' }), commits).map(({ id }) => id)).toEqual(['a', 'c'])
  expect(suspectCommits(frame({ filename: 'Cart.kt', module: 'com.shop.Cart' }), commits).map(({ id }) => id)).toEqual([
    'd',
  ])
  expect(suspectCommits(null, commits)).toEqual([])
})

test('breadcrumbs that most events have: failures first, whatever their ids', () => {
  const crumb = (fields: Partial<Crumb>): Crumb => ({
    timestamp: null,
    type: 'default',
    category: null,
    level: 'info',
    message: null,
    data: null,
    ...fields,
  })
  const event = (n: number, ...breadcrumbs: Crumb[]): FactEvent => ({
    event_id: `${n}`,
    occurred_at: '',
    type: 'error',
    platform: 'javascript',
    release: null,
    transaction: null,
    message: null,
    exceptions: [],
    threads: [],
    breadcrumbs,
  })
  const fetched = (n: number) =>
    crumb({ type: 'http', data: { method: 'POST', url: `https://x.example/orders/${n}?token=s`, status_code: 500 } })
  const click = crumb({ category: 'ui.click', message: 'button#pay' })
  const found = commonCrumbs([
    event(1, fetched(11), click),
    event(2, fetched(22), click),
    event(3, click, crumb({ message: 'rare' })),
  ])
  expect(found).toEqual([
    { text: 'POST https://x.example/orders/11 answered 500', events: 2, of: 3, isFailure: true },
    { text: 'ui.click: button#pay', events: 3, of: 3, isFailure: false },
  ])
  expect(commonCrumbs([])).toEqual([])
})

test.each([
  ['java.net.SocketInputStream', 'socketRead0', 'it waits for the network'],
  ['android.database.sqlite.SQLiteConnection', 'nativeExecute', 'it reads or writes a database'],
  ['android.os.BinderProxy', 'transactNative', 'it waits for another process'],
  ['java.lang.Object', 'wait', 'it waits for a lock or for another thread'],
  ['android.os.MessageQueue', 'nativePollOnce', 'it was idle again when the stack was taken'],
])('a main thread in %s.%s', (module, name, means) => {
  expect(
    whyBlocked([
      frame({ module: 'android.os.Looper', function: 'loop', in_app: false }),
      frame({ module, function: name, in_app: false }),
    ])?.means,
  ).toBe(means)
})

test('texts of events stay one bounded line inside their quotation', () => {
  expect(quoted('a”\r\n\u0000\u202Eb\u200Bc “d')).toBe("“a' b c 'd”")
  expect(cutLine('x'.repeat(50), 10)).toBe('xxxxxxxxx…')
  expect(cutLine('\uD83D\uDE00'.repeat(10), 4).isWellFormed()).toBe(true)
  expect([30_000, 5_400_000, 172_800_000].map(spanText)).toEqual(['1 minute', '2 hours', '2 days'])
})
