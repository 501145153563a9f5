import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { buildProguardIndex } from './build-proguard-index.ts'
import { readProguardId } from './proguard-id.ts'
import { retraceClass, retraceFrame } from './retrace-frame.ts'

const recorded = readFileSync('test/fixtures/samples/artefacts/proguard-mapping.txt')

describe('the recorded mapping', () => {
  const { directory, parts } = buildProguardIndex(recorded)
  const part = (number: number): Buffer => parts[number] ?? Buffer.alloc(0)
  const lines = (method: string, line: number | null): string[][] =>
    retraceFrame(directory, part, { className: 'a.a.b', method, line, file: 'SourceFile' }).map((frames) =>
      frames.map((frame) => `${frame.className}.${frame.method}(${frame.file}:${frame.line})`),
    )

  it('has the identifier that sentry-cli derives from it', () => {
    expect(readProguardId(recorded)).toBe('bcc0ed9d-5b8f-5d9e-8f08-35edec4a0f10')
  })

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
