import { expect, test } from 'vitest'
import { bytesOfRepeated } from './facts.ts'

test('an event counts with all of its characters; a stack that its texts hold counts once', () => {
  const texts = ['y'.repeat(500), null]
  const facts = [['key', 'x'.repeat(1_000)] as const]
  const once = bytesOfRepeated({ facts, texts, stack: texts })
  expect(once).toBeGreaterThan(1_500)
  expect(once).toBeLessThan(1_700)
  expect(bytesOfRepeated({ facts, texts, stack: [...texts] })).toBeGreaterThan(once + 500)
})
