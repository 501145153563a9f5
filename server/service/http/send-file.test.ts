import { expect, test } from 'vitest'
import { contentDisposition } from './bind.ts'

test('the header has the exact name for new clients, and a safe one for old clients', () => {
  expect(contentDisposition('app (1).log')).toBe(
    `attachment; filename="app (1).log"; filename*=UTF-8''app%20%281%29.log`,
  )
  expect(contentDisposition(`a"; filename="b\r\nx: y`)).toBe(
    `attachment; filename="a__ filename__b__x_ y"; filename*=UTF-8''a%22%3B%20filename%3D%22b%0D%0Ax%3A%20y`,
  )
  expect(contentDisposition('Überblick ✓\ud800.txt')).toBe(
    `attachment; filename="_berblick __.txt"; filename*=UTF-8''%C3%9Cberblick%20%E2%9C%93%EF%BF%BD.txt`,
  )
})
