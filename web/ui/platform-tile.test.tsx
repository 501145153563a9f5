import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { platformName, PlatformTile } from './platform-tile.tsx'

test('platforms have names; unknown ones keep their own', () => {
  expect(platformName('react-native')).toBe('React Native')
  expect(platformName('cobol')).toBe('cobol')
})

const html = (platform: string, kind?: string) => renderToStaticMarkup(<PlatformTile platform={platform} kind={kind} />)

test.each(['constructor', '__proto__', 'valueOf', 'brainfuck', ''])(
  'an event may have the platform %j, which is shown by its own name',
  (name) => {
    expect(platformName(name)).toBe(name)
    expect(html(name)).toContain(name.slice(0, 3).toUpperCase())
    expect(html('java', name)).toContain('Java')
  },
)

test('the project’s platform replaces the usual platform of its SDK, but no other', () => {
  expect(html('java', 'android')).toContain('Android')
  expect(html('native', 'flutter')).toContain('Native')
})
