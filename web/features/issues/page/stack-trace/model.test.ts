import { expect, test } from 'vitest'
import type { Event, Exception, Frame } from '../../../../../server/events/protocol/event.api.ts'
import {
  countReadable,
  exceptionType,
  foldFrames,
  frameLocation,
  splitFrameName,
  shortPath,
  frameSource,
  eventStacks,
} from './model.ts'
import { type Frames, writeStack } from './raw.ts'

const aFrame = (fields: Partial<Frame> = {}): Frame => ({
  filename: 'src/app.ts',
  abs_path: null,
  function: 'run',
  raw_function: null,
  module: null,
  package: null,
  platform: null,
  lineno: 10,
  colno: null,
  in_app: true,
  context_line: 'run()',
  pre_context: ['before()'],
  post_context: ['after()'],
  vars: null,
  instruction_addr: null,
  symbol_addr: null,
  image_addr: null,
  ...fields,
})
const framework = (name: string) =>
  aFrame({ function: name, in_app: false, context_line: null, filename: `node_modules/${name}/index.js` })
const stackOf = (frames: Frame[]) => ({ frames, registers: null })

const anError = (fields: Partial<Exception> = {}): Exception => ({
  type: 'TypeError',
  value: 'broken',
  module: null,
  thread_id: null,
  mechanism: null,
  stacktrace: stackOf([aFrame()]),
  ...fields,
})
const aThread = (fields: Partial<Event['threads'][number]> = {}): Event['threads'][number] => ({
  id: '1',
  name: 'main',
  state: null,
  crashed: false,
  current: false,
  main: false,
  stacktrace: null,
  ...fields,
})

test('runs of framework frames are collapsed, the innermost frame is first', () => {
  const stack = stackOf([
    framework('express'),
    framework('router'),
    aFrame({ function: 'outer' }),
    framework('zod'),
    aFrame({ function: 'inner' }),
  ])
  const rows = foldFrames(stack, 'app')
  expect(
    rows.map((row) => (row.kind === 'fold' ? `${row.frames.length}: ${row.origins}` : row.frame.function)),
  ).toEqual(['inner', '1: zod', 'outer', '2: router, express'])
})

test('an expanded run shows its frames in place', () => {
  const stack = stackOf([framework('express'), framework('router'), aFrame({ function: 'inner' })])
  const [, fold] = foldFrames(stack, 'app')
  expect(fold?.kind).toBe('fold')
  const rows = foldFrames(stack, 'app', new Set([fold?.key ?? -1]))
  expect(rows.map((row) => (row.kind === 'frame' ? row.frame.function : 'fold'))).toEqual([
    'inner',
    'router',
    'express',
  ])
})

test('`all` shows every frame, and a stack without in-app frames is not collapsed', () => {
  const stack = stackOf([framework('express'), aFrame()])
  expect(foldFrames(stack, 'all')).toHaveLength(2)
  const foreign = stackOf([framework('a'), aFrame({ in_app: false, function: 'crash' })])
  const rows = foldFrames(foreign, 'app')
  expect(rows.map((row) => row.kind)).toEqual(['frame', 'frame'])
  expect(rows.map((row) => row.kind === 'frame' && row.open)).toEqual([true, false])
})

test('the first five in-app frames with source are expanded', () => {
  const rows = foldFrames(stackOf(Array.from({ length: 8 }, () => aFrame())), 'app')
  expect(rows.filter((row) => row.kind === 'frame' && row.open)).toHaveLength(5)
  const bare = foldFrames(stackOf([aFrame({ context_line: null })]), 'app')
  expect(bare.map((row) => row.kind === 'frame' && row.open)).toEqual([false])
})

test.each([
  [
    { platform: 'java', module: 'shop.checkout.CheckoutFragment', function: 'onPaid' },
    ['shop.checkout.', 'CheckoutFragment.', 'onPaid'],
  ],
  [{ platform: 'python', module: 'app.views', function: 'get' }, ['app.views.', '', 'get']],
  [{ platform: 'javascript', module: null, function: 'Cart.total' }, ['', 'Cart.', 'total']],
  [
    { platform: 'native', module: null, function: 'render::Atlas::grow(std::size_t)' },
    ['', 'render::Atlas::', 'grow(std::size_t)'],
  ],
  [{ platform: 'javascript', module: null, function: 'Server.?' }, ['', 'Server.', '<anonymous>']],
  [{ platform: 'javascript', module: null, function: null }, ['', '', '(unknown)']],
  [{ platform: 'javascript', module: null, function: '<anonymous>' }, ['', '', '<anonymous>']],
])('a function has a path, a class and a name: %o', (fields, [path, type, name]) => {
  expect(splitFrameName(aFrame(fields))).toEqual({ path, type, name })
})

test('a location is file, line and column, or library and address', () => {
  expect(frameLocation(aFrame({ lineno: 3, colno: 7 }))).toBe('src/app.ts:3:7')
  expect(frameLocation(aFrame({ lineno: null }))).toBe('src/app.ts')
  expect(frameLocation(aFrame({ filename: null, package: '/usr/lib/librender.so', instruction_addr: '0x10' }))).toBe(
    'librender.so 0x10',
  )
  expect(shortPath('https://shop.example/static/app.js')).toBe('static/app.js')
  expect(shortPath('/very/long/way/down/to/the/folder/of/the/project/src/checkout.ts')).toBe('…/src/checkout.ts')
})

test('source lines carry their numbers, and a minified line is cut around its column', () => {
  expect(frameSource(aFrame())).toEqual([
    { number: 9, text: 'before()', hit: false },
    { number: 10, text: 'run()', hit: true },
    { number: 11, text: 'after()', hit: false },
  ])
  expect(frameSource(aFrame({ context_line: null }))).toBeNull()
  const long = `${'a'.repeat(50_000)}HERE${'b'.repeat(50_000)}`
  const [line] = frameSource(aFrame({ context_line: long, colno: 50_002, pre_context: [], post_context: [] })) ?? []
  expect(line?.text.length).toBeLessThan(700)
  expect(line?.text).toContain('HERE')
})

test('the newest error is first, its cause below; grouped errors are marked', () => {
  const group = anError({
    type: 'AggregateError',
    mechanism: aMechanism({ exception_id: 0, is_exception_group: true }),
  })
  const member = anError({ type: 'RangeError', mechanism: aMechanism({ exception_id: 1, parent_id: 0 }) })
  const [stack] = eventStacks({ exceptions: [member, group], threads: [] })
  expect(stack?.exceptions.map(({ exception, joint }) => [exception.type, joint])).toEqual([
    ['AggregateError', 'first'],
    ['RangeError', 'member'],
  ])
  const [chain] = eventStacks({ exceptions: [anError({ type: 'Cause' }), anError()], threads: [] })
  expect(chain?.exceptions.map(({ joint }) => joint)).toEqual(['first', 'cause'])
})

test('an error without frames has those of the crashed thread; other threads can be chosen', () => {
  const crashed = aThread({ crashed: true, stacktrace: stackOf([aFrame({ function: 'boom' })]) })
  const idle = aThread({ id: '2', name: 'worker', stacktrace: stackOf([aFrame()]) })
  const stacks = eventStacks({ exceptions: [anError({ stacktrace: null })], threads: [idle, crashed] })
  expect(stacks.map((stack) => stack.thread?.name)).toEqual(['main', 'worker'])
  expect(stacks[0]?.exceptions[0]?.stacktrace?.frames[0]?.function).toBe('boom')
  expect(eventStacks({ exceptions: [], threads: [] })).toEqual([])
})

test('frames are counted as readable when their function is known', () => {
  const [stack] = eventStacks({
    exceptions: [anError({ stacktrace: stackOf([aFrame(), aFrame({ function: null })]) })],
    threads: [],
  })
  expect(stack === undefined ? null : countReadable(stack)).toEqual({ readable: 1, total: 2 })
})

test('the raw text is that of the runtime', () => {
  const [java] = eventStacks({
    exceptions: [
      anError({ type: 'IOException', module: 'java.io', value: 'gone', stacktrace: null }),
      anError({
        type: 'IllegalStateException',
        module: 'java.lang',
        value: 'no context',
        stacktrace: stackOf([aFrame({ module: 'app.Main', function: 'main', filename: 'Main.kt', lineno: 3 })]),
      }),
    ],
    threads: [],
  })
  expect(java === undefined ? '' : writeStack(java, 'java', 'sent')).toBe(
    'java.lang.IllegalStateException: no context\n    at app.Main.main(Main.kt:3)\nCaused by: java.io.IOException: gone',
  )
  const [python] = eventStacks({ exceptions: [anError({ type: 'ValueError' })], threads: [] })
  expect(python === undefined ? '' : writeStack(python, '__proto__', 'sent')).toContain('ValueError')
  expect(python === undefined ? '' : writeStack(python, 'python', 'sent')).toBe(
    'Traceback (most recent call last):\n  File "src/app.ts", line 10, in run\n    run()\nValueError: broken',
  )
  const [script] = eventStacks({ exceptions: [anError()], threads: [] })
  expect(script === undefined ? '' : writeStack(script, 'node', 'sent')).toBe(
    'TypeError: broken\n    at run (src/app.ts:10)',
  )
})

test('a type that has its package already does not repeat it', () => {
  const typeOf = (type: string, module: string | null, platform = 'java') =>
    exceptionType(anError({ type, module }), platform)
  expect(typeOf('java.lang.IllegalStateException', 'java.lang')).toBe('java.lang.IllegalStateException')
  expect(typeOf('IllegalStateException', 'java.lang')).toBe('java.lang.IllegalStateException')
  expect(typeOf('IllegalStateException', null)).toBe('IllegalStateException')
  expect(typeOf('IllegalStateException', 'java.lang', 'python')).toBe('IllegalStateException')
})

test('a text has the frames that are shown: readable, or as the app sent them', () => {
  const sent = {
    function: 'a',
    module: null,
    filename: 'app.js',
    abs_path: 'https://a.example/app.js',
    lineno: 1,
    colno: 900,
  }
  const readable = { abs_path: null, lineno: 10, colno: 3, raw: sent }
  const frames = [
    aFrame({ ...readable, function: 'Cart.pay', filename: 'src/cart.ts' }),
    aFrame({ ...readable, function: 'total', filename: 'src/sum.ts', is_inlined: true }),
  ]
  const [stack] = eventStacks({ exceptions: [anError({ stacktrace: stackOf(frames) })], threads: [] })
  const text = (which: Frames) => (stack === undefined ? '' : writeStack(stack, 'javascript', which))
  expect(text('readable')).toBe('TypeError: broken\n    at total (src/sum.ts:10:3)\n    at Cart.pay (src/cart.ts:10:3)')
  expect(text('sent')).toBe('TypeError: broken\n    at a (https://a.example/app.js:1:900)')
})

function aMechanism(fields: Partial<NonNullable<Exception['mechanism']>>): NonNullable<Exception['mechanism']> {
  return {
    type: 'generic',
    description: null,
    help_link: null,
    handled: null,
    synthetic: false,
    data: null,
    meta: null,
    exception_id: null,
    parent_id: null,
    is_exception_group: false,
    source: null,
    ...fields,
  }
}
