import { expect, test } from 'vitest'
import { buildTrack } from './track-model.ts'

const out = (...versions: string[]) => versions.map((version) => ({ version }))
const drawn = (nodes: ReturnType<typeof buildTrack>) =>
  nodes.map(({ version, kind, isSeen }) => `${version} ${kind}${isSeen ? ' seen' : ''}`)

test('two releases before the fix, two after it, then the regression', () => {
  const markers = out('1', '2', '3', '4', '5', '6', '7', '8')
  expect(drawn(buildTrack('4', '8', markers, new Set(['2', '3', '8'])))).toEqual([
    '2 before seen',
    '3 before seen',
    '4 fixed',
    '5 between',
    '6 between',
    '8 back seen',
  ])
  expect(drawn(buildTrack('1', '2', markers, new Set()))).toEqual(['1 fixed', '2 back seen'])
})

test('releases of another app in the same project are left out', () => {
  const markers = out('shop@1', 'admin@7', 'shop@2', 'admin@8', 'shop@3')
  expect(drawn(buildTrack('shop@1', 'shop@3', markers, new Set()))).toEqual([
    'shop@1 fixed',
    'shop@2 between',
    'shop@3 back seen',
  ])
})

test('with a later fix, or without dates, only fix and regression are shown', () => {
  expect(drawn(buildTrack('2', '1', out('1', '2'), new Set()))).toEqual(['2 fixed', '1 back seen'])
  expect(drawn(buildTrack('planned', '2', out('1', '2'), new Set()))).toEqual(['planned fixed', '2 back seen'])
  expect(drawn(buildTrack('1', '1', out('1'), new Set()))).toEqual(['1 fixed', '1 back seen'])
})
