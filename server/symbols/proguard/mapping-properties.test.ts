import fc from 'fast-check'
import { expect, it } from 'vitest'
import { SymbolFileError } from '#server/symbols/index-file/built-index.ts'
import { cases } from '#test/kit/properties.ts'
import { buildProguardIndex } from './build-proguard-index.ts'
import { proguardParts, retraceClass, retraceFrame, type RetracedFrame } from './retrace-frame.ts'
import { namesInText, originalName, retraceText } from './retrace-text.ts'

const short = fc.constantFrom('a', 'b', 'ab', 'a.a', 'a.b', 'é.ü', '日', 'a$b', '<init>')
const number = fc.constantFrom('0', '1', '2', '3', '5', '9', '65535', '4294967295', '-1', '')
const range = fc.tuple(number, number).map(([from, to]) => `${from}:${to}`)
const comment = fc.constantFrom(
  '# {"id":"sourceFile","fileName":"X.kt"}',
  '# {"id":"com.android.tools.r8.synthesized"}',
  '# {"id":"com.android.tools.r8.outline"}',
  `# {'id':'com.android.tools.r8.outlineCallsite','positions':{'1':2,'__proto__':3}}`,
  '# {"id":"com.android.tools.r8.rewriteFrame","conditions":["throws(La;)"],"actions":["removeInnerFrames(1)"]}',
  '# {"id":7}',
  '# {',
  '# compiler: R8',
)
const mappingLine = fc.oneof(
  fc.tuple(short, short).map(([from, to]) => `${from} -> ${to}:`),
  fc.tuple(range, short, range, short).map(([a, name, b, to]) => `    ${a}:void ${name}(int):${b} -> ${to}`),
  fc.tuple(short, short).map(([name, to]) => `    void ${name}() -> ${to}`),
  fc.tuple(short, short).map(([name, to]) => `    int ${name} -> ${to}`),
  comment,
  fc.string(),
  fc.string({ unit: 'binary' }),
)
const mappingText = fc
  .tuple(fc.array(mappingLine, { maxLength: 60 }), fc.constantFrom('\n', '\r\n'), fc.constantFrom('', '\uFEFF'))
  .map(([lines, lineBreak, mark]) => mark + lines.join(lineBreak))

it('reads any text, or says why it is not a mapping', () => {
  fc.assert(
    fc.property(fc.oneof(mappingText, fc.uint8Array({ maxLength: 400 })), short, short, (text, className, method) => {
      const file = typeof text === 'string' ? Buffer.from(text) : Buffer.from(text)
      try {
        const { directory, parts } = buildProguardIndex(file)
        const part = (at: number): Buffer => parts[at] ?? Buffer.alloc(0)
        for (const line of [null, 0, 1, 3, 70_000]) {
          const readings = retraceFrame(directory, part, { className, method, line, file: null })
          expect(readings.length).toBeLessThanOrEqual(32)
        }
        const message = `${className}.${method}(${className}) ${className}: x`
        expect(retraceText(message, (name) => originalName(directory, part, name))).toBeTypeOf('string')
      } catch (error) {
        expect(error).toBeInstanceOf(SymbolFileError)
      }
    }),
    { numRuns: cases(1000, 100_000) },
  )
})

/** A well-formed mapping, as data. Overloads of one name have ranges of their own, as R8 writes them. */
const methodArbitrary = fc.record({
  obfuscated: fc.constantFrom('a', 'b', 'c', '<init>'),
  chain: fc.array(fc.constantFrom('run', 'stop', 'org.other.Tool.use', 'com.Kept$Inner.go'), {
    minLength: 1,
    maxLength: 3,
  }),
  size: fc.integer({ min: 1, max: 4 }),
  original: fc.integer({ min: 1, max: 500 }),
})
const classesArbitrary = fc.uniqueArray(
  fc.record({
    obfuscated: fc.stringMatching(/^[a-z]{1,3}(?:\.[a-zé]{1,3})?$/u),
    original: fc.stringMatching(/^com\.[A-Z][a-z]{1,8}$/u),
    file: fc.option(fc.constantFrom('Views.kt', 'Models.java')),
    methods: fc.array(methodArbitrary, { maxLength: 12 }),
  }),
  { selector: ({ obfuscated }) => obfuscated, minLength: 1, maxLength: 40 },
)

it('finds every class and every range of a mapping', () => {
  fc.assert(
    fc.property(classesArbitrary, fc.boolean(), (classes, isShuffled) => {
      const lines: string[] = []
      const expected: { className: string; method: string; line: number; frames: string[] }[] = []
      for (const { obfuscated, original, file, methods } of isShuffled ? classes.toReversed() : classes) {
        lines.push(`${original} -> ${obfuscated}:`)
        if (file !== null) lines.push(`# {"id":"sourceFile","fileName":"${file}"}`)
        let next = 1
        for (const method of methods) {
          const { chain, size } = method
          const [from, to] = [next, next + size - 1]
          next = to + 1
          for (const name of chain)
            lines.push(
              `    ${from}:${to}:void ${name}(int):${method.original}:${method.original + size - 1} -> ${method.obfuscated}`,
            )
          const line = method.original + size - 1
          const frames = chain.map((name) => `${name.includes('.') ? name : `${original}.${name}`}:${line}`)
          expected.push({ className: obfuscated, method: method.obfuscated, line: to, frames })
        }
      }
      const { directory, parts } = buildProguardIndex(Buffer.from(lines.join('\n')))
      const part = (at: number): Buffer => parts[at] ?? Buffer.alloc(0)
      for (const { obfuscated, original } of classes) {
        expect(proguardParts(directory, [obfuscated])).toEqual([0])
        expect(retraceClass(directory, part, obfuscated)).toBe(original)
      }
      for (const { frames, ...frame } of expected) {
        const show = ({ className, method, line }: RetracedFrame): string => `${className}.${method}:${line}`
        const readings = retraceFrame(directory, part, { ...frame, file: 'SourceFile' })
        expect(readings.map((reading) => reading.map(show))).toEqual([frames])
      }
    }),
    { numRuns: cases(200, 20_000) },
  )
})

it('finds classes of mappings with many parts, and none that it does not have', () => {
  const lines = Array.from({ length: 20_000 }, (_, at) => [
    `com.example.screens.Screen${at} -> ${(at * 7919).toString(36)}.${at % 7}x:`,
    `    1:2:void open(int):${at}:${at + 1} -> a`,
  ])
  const { directory, parts } = buildProguardIndex(Buffer.from(lines.flat().join('\n')))
  expect(parts.length).toBeGreaterThan(3)
  const part = (at: number): Buffer => parts[at] ?? Buffer.alloc(0)
  for (let at = 0; at < 20_000; at += 97) {
    const name = `${(at * 7919).toString(36)}.${at % 7}x`
    expect(proguardParts(directory, [name, name])).toHaveLength(1)
    expect(retraceClass(directory, part, name)).toBe(`com.example.screens.Screen${at}`)
    expect(retraceClass(directory, part, `${name}y`)).toBeNull()
  }
  expect(namesInText('Cannot cast a.b.c to x.y').map(({ classes }) => classes)).toContainEqual(['a.b.c', 'a.b', 'a'])
})
