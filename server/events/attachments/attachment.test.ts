import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cleanContentType, cleanFilename, servedType } from './attachment.ts'

describe('a file name', () => {
  test.each([
    ['screenshot.png', 'screenshot.png'],
    ['../../etc/passwd', 'passwd'],
    ['C:\\Windows\\system32\\x.dll', 'x.dll'],
    ['/', 'attachment'],
    ['..', 'attachment'],
    ['.htaccess', 'htaccess'],
    ['a\0b\r\nc.txt', 'abc.txt'],
    ['photo\u202Egpj.exe', 'photogpj.exe'],
    ['<img src=x>.png', 'img src=x.png'],
    ['Überblick ✓.log', 'Überblick ✓.log'],
    ['\ud800.txt', '\ufffd.txt'],
    ['', 'attachment'],
    [null, 'attachment'],
    [5, 'attachment'],
  ])('%j becomes %j', (raw, clean) => {
    expect(cleanFilename(raw)).toBe(clean)
  })

  test('keeps its extension when it is cut, and is never a path', () => {
    expect(cleanFilename(`${'a'.repeat(500)}.json`)).toBe(`${'a'.repeat(195)}.json`)
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (raw) => {
        const name = cleanFilename(raw)
        expect(name.length).toBeGreaterThan(0)
        expect(name.length).toBeLessThanOrEqual(200)
        expect(name).not.toMatch(/[/\\\0\r\n]|^\.+$/)
        expect(cleanFilename(name)).toBe(name)
      }),
    )
  })
})

test('content types are type/subtype, or application/octet-stream', () => {
  expect(cleanContentType('Text/Plain; charset=utf-8')).toBe('text/plain')
  for (const raw of [null, '', 'x', 'text/html\r\nx: y', 'a/b/c', `a/${'b'.repeat(200)}`])
    expect(cleanContentType(raw)).toBe('application/octet-stream')
})

test('only content with the first bytes of an image is served as one', () => {
  expect(servedType(Buffer.from('89504e470d0a1a0a00', 'hex'))).toBe('image/png')
  expect(servedType(Buffer.from('ffd8ffe0', 'hex'))).toBe('image/jpeg')
  expect(servedType(Buffer.from('GIF89a'))).toBe('image/gif')
  expect(servedType(Buffer.from('RIFF\0\0\0\0WEBPVP8 '))).toBe('image/webp')
  for (const text of ['<svg xmlns="http://www.w3.org/2000/svg">', '<!doctype html>', 'GIF87', '', '%PDF-1.7'])
    expect(servedType(Buffer.from(text))).toBe('application/octet-stream')
})
