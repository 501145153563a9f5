import { expect, test } from 'vitest'
import {
  issuePlatform,
  KNOWN_PLATFORMS,
  platformLetters,
  platformName,
  PROJECT_PLATFORMS,
  sharedPlatform,
} from './platforms.ts'

test('every known platform has one name and one tile of its own', () => {
  for (const read of [platformName, platformLetters]) {
    const names = KNOWN_PLATFORMS.map((platform) => read(platform).toLowerCase())
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
    expect(names).not.toContain('')
  }
})

test.each(['constructor', '__proto__', 'valueOf', 'cobol', ''])('a platform %j keeps its own name', (name) => {
  expect(platformName(name)).toBe(name)
  expect(platformLetters(name)).toBe(name.slice(0, 3).toUpperCase())
  expect(issuePlatform(name, 'java')).toBe('java')
  expect(issuePlatform('android', name)).toBe(name)
})

test('an issue has the platform of its project where the SDK reports the usual one there', () => {
  expect(issuePlatform('android', 'java')).toBe('android')
  expect(issuePlatform('web', 'javascript')).toBe('web')
  expect(issuePlatform('web', 'node')).toBe('node')
  expect(issuePlatform('flutter', 'native')).toBe('native')
})

test('issues of several projects have one platform if all that usually have such events do', () => {
  expect(sharedPlatform(['android', 'web', 'android'], 'java')).toBe('android')
  expect(sharedPlatform(['react-native', 'web'], 'javascript')).toBe('javascript')
  expect(sharedPlatform(['web'], 'python')).toBe('python')
  expect(sharedPlatform([], 'java')).toBe('java')
  for (const project of PROJECT_PLATFORMS)
    for (const event of KNOWN_PLATFORMS) expect(sharedPlatform([project], event)).toBe(issuePlatform(project, event))
})
