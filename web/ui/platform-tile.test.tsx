import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { PlatformTile } from './platform-tile.tsx'

const html = (platform: string, kind?: string) => renderToStaticMarkup(<PlatformTile platform={platform} kind={kind} />)

test('a tile has the letters of its platform and speaks its name', () => {
  expect(html('android')).toMatch(/aria-label="Android".*>AND</)
  expect(html('csharp')).toMatch(/aria-label=".NET".*>NET</)
})

test.each(['constructor', '__proto__', 'valueOf', 'brainfuck', ''])(
  'an event may have the platform %j, which is shown by its own name',
  (name) => {
    expect(html(name)).toContain(`>${name.slice(0, 3).toUpperCase()}<`)
    expect(html('java', name)).toContain('Java')
  },
)

test('the project’s platform replaces the usual platform of its SDK, but no other', () => {
  expect(html('java', 'android')).toContain('Android')
  expect(html('native', 'flutter')).toContain('Native')
})
