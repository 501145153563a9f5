import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { platformWord, PlatformTile } from './platform-tile.tsx'

test('platforms have names; unknown ones keep their own', () => {
  expect(platformWord('react-native')).toBe('React Native')
  expect(platformWord('cobol')).toBe('cobol')
})

const html = (platform: string, kind?: string) => renderToStaticMarkup(<PlatformTile platform={platform} kind={kind} />)

test.each(['constructor', '__proto__', 'valueOf', 'brainfuck', ''])(
  'a platform may be called %j by whoever sends events, and is drawn as it is called',
  (name) => {
    expect(platformWord(name)).toBe(name)
    expect(html(name)).toContain(name.slice(0, 3).toUpperCase())
    expect(html('java', name)).toContain('Java')
  },
)

test('the project’s platform replaces the usual platform of its SDK, but no other', () => {
  expect(html('java', 'android')).toContain('Android')
  expect(html('native', 'flutter')).toContain('Native')
})
