import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { buildProguardIndex } from './build-proguard-index.ts'
import { readFrame, retraceClass, retraceFrame, type RetracedFrame } from './retrace-frame.ts'
import { retraceStack } from './retrace-stack.ts'
import { originalName, retraceText } from './retrace-text.ts'

const recorded = readFileSync('test/fixtures/samples/artefacts/proguard-mapping.txt')

describe('the recorded mapping', () => {
  const { directory, parts } = buildProguardIndex(recorded)
  const part = (number: number): Buffer => parts[number] ?? Buffer.alloc(0)
  const lines = (method: string, line: number | null): string[][] =>
    retraceFrame(directory, part, { className: 'a.a.b', method, line, file: 'SourceFile' }).map((frames) =>
      frames.map((frame) => `${frame.className}.${frame.method}(${frame.file}:${frame.line})`),
    )

  it('gives classes, lines and inlined frames', () => {
    expect(retraceClass(directory, part, 'a.a.c')).toBe('com.acme.shop.CartRepository')
    expect(retraceClass(directory, part, 'a.a.d')).toBeNull()
    expect(lines('b', 2)).toEqual([['com.acme.shop.CartViewModel.checkout(CartViewModel.java:34)']])
    expect(lines('b', 6)).toEqual([
      [
        'com.acme.shop.CartViewModel.total(CartViewModel.java:22)',
        'com.acme.shop.CartViewModel.checkout(CartViewModel.java:37)',
      ],
    ])
  })
})

/** The examples of the format's page, and forms that the fixtures of R8 do not have. */
const mapping = `# {"id":"com.android.tools.r8.mapping","version":"9.9","unknown":{}}
# {"id":"com.android.tools.r8.unknown"}
outline.Class -> a:
  1:2:int outline() -> a
# { 'id':'com.android.tools.r8.outline' }
some.Class -> b:
  int count -> c
  java.lang.String names[] -> d
  4:4:int outlineCaller(int):98:98 -> s
  5:5:int outlineCaller(int):100:100 -> s
  27:27:int outlineCaller(int):0:0 -> s
# { 'id':'com.android.tools.r8.outlineCallsite', 'positions': { '1': 4, '2': 5 } }
  5:5:void other.Class.inlinee():23:23 -> t
  5:5:void caller(other.Class):7 -> t
# { id: 'com.android.tools.r8.rewriteFrame', conditions: ['throws(Ljava/lang/NullPointerException;)'], actions: ['removeInnerFrames(1)'] }
  int first(int) -> u
  int second(java.lang.String[]) -> u
  1:2:int third(int):4:5 -> v
  3:3:int fourth(int):9:9 -> v
  0:65535:void everywhere():33:33 -> w
  1:1:void several():40:42 -> x
  void broken -> -> y
com.example.a.Outer$Inner -> com.b.c$d:
  void <init>(int) -> <init>
  void save(java.util.List) -> a
  java.util.List names -> e
`

describe('forms of the format', () => {
  const { directory, parts } = buildProguardIndex(Buffer.from(`\uFEFF${mapping.replaceAll('\n', '\r\n')}`))
  const part = (number: number): Buffer => parts[number] ?? Buffer.alloc(0)
  const show = (frame: RetracedFrame): string => `${frame.className}.${frame.method}:${frame.line}`
  const frames = (method: string, line: number | null, className = 'b'): string[][] =>
    retraceFrame(directory, part, { className, method, line, file: null }).map((reading) => reading.map(show))
  const stack = (thrown: string, ...lines: [string, string, number][]): string[][][] =>
    retraceStack(
      { thrown, frames: lines.map(([className, method, line]) => ({ className, method, line, file: null })) },
      (frame) => readFrame(directory, part, frame),
    ).map((readings) => readings.map((reading) => reading.map(show)))

  it('gives the caller of an outline the line of the code', () => {
    expect(stack('x.y', ['a', 'a', 1], ['b', 's', 27])).toEqual([[[]], [['some.Class.outlineCaller:98']]])
    expect(stack('x.y', ['a', 'a', 2], ['j.U', 'run', 4], ['b', 's', 27])).toEqual([
      [[]],
      [],
      [['some.Class.outlineCaller:100']],
    ])
    expect(stack('x.y', ['b', 's', 27])).toEqual([[['some.Class.outlineCaller:null']]])
  })

  it('removes inner frames only at the top and only for the exception that the mapping names', () => {
    const whole = ['other.Class.inlinee:23', 'some.Class.caller:7']
    expect(stack('java.lang.NullPointerException', ['b', 't', 5])).toEqual([[['some.Class.caller:7']]])
    expect(stack('java.lang.NullPointerException', ['j.U', 'x', 1], ['b', 't', 5])).toEqual([[], [whole]])
    expect(stack('java.lang.Error', ['b', 't', 5])).toEqual([[whole]])
  })

  it('lists what a frame may be', () => {
    expect(frames('u', 8)).toEqual([['some.Class.first:8'], ['some.Class.second:8']])
    expect(frames('v', null)).toEqual([['some.Class.third:null'], ['some.Class.fourth:null']])
    expect(frames('v', 77)).toEqual([['some.Class.third:null'], ['some.Class.fourth:null']])
    expect(frames('w', null)).toEqual([['some.Class.everywhere:33']])
    expect(frames('x', 1)).toEqual([['some.Class.several:40'], ['some.Class.several:41'], ['some.Class.several:42']])
    expect(frames('kept', 12)).toEqual([['some.Class.kept:12']])
    expect(frames('c', 1)).toEqual([['some.Class.c:1']])
    expect(frames('a', 1, 'zz')).toEqual([])
    expect(frames('<init>', 3, 'com.b.c$d')).toEqual([['com.example.a.Outer$Inner.<init>:3']])
  })

  it.each([
    ['com.b.c$d cannot be cast to b', 'com.example.a.Outer$Inner cannot be cast to some.Class'],
    ['com.b.c$d: a b problem of b', 'com.example.a.Outer$Inner: a b problem of b'],
    ['b: message', 'some.Class: message'],
    ['b', 'some.Class'],
    ['Caused by: b: message', 'Caused by: some.Class: message'],
    [
      "Attempt to invoke virtual method 'void com.b.c$d.a(java.util.List)' on a null object reference",
      "Attempt to invoke virtual method 'void com.example.a.Outer$Inner.save(java.util.List)' on a null object reference",
    ],
    [
      "read from field 'java.util.List com.b.c$d.e' on",
      "read from field 'java.util.List com.example.a.Outer$Inner.names' on",
    ],
    ['No method in class Lcom/b/c$d; of [Lb;', 'No method in class Lcom/example/a/Outer$Inner; of [Lsome.Class;'],
    ['value com.b.c$d@1f2e3d.', 'value com.example.a.Outer$Inner@1f2e3d.'],
    ['see com.b.c$d.', 'see com.example.a.Outer$Inner.'],
    [
      "read from field 'int b.c' on a null object reference, b.c",
      "read from field 'int some.Class.count' on a null object reference, b.c",
    ],
    [
      'Cannot invoke "b.s(int)" because "<local1>.c" is null',
      'Cannot invoke "some.Class.outlineCaller(int)" because "<local1>.c" is null',
    ],
    ['nothing here: a.b.c and www.example.com/b', 'nothing here: a.b.c and www.example.com/b'],
  ])('replaces names in %s', (text, expected) => {
    expect(retraceText(text, (name) => originalName(directory, part, name))).toBe(expected)
  })
})

describe('files that are not mappings', () => {
  it.each([
    ['', 'The file is empty.'],
    ['<!doctype html><html>', 'The file is HTML or XML, not a mapping. A download of the mapping may have failed.'],
    ['PK\u0003\u0004', 'The file is zip archive'],
    ['a\0b', 'The file is binary'],
    ['# compiler: R8\n', 'The file has no class of a mapping'],
    ['{"version":3,"sources":[]}', 'The file has no class of a mapping'],
  ])('refuses %j', (text, message) => {
    expect(() => buildProguardIndex(Buffer.from(text))).toThrow(message.replace('is zip', 'is a zip'))
  })
})
