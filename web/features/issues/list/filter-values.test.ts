import { expect, test } from 'vitest'
import type { IssuesSearch } from '../../../address/search.ts'
import {
  chosenAssignee,
  chosenValues,
  cleared,
  countSet,
  queriedTags,
  toggled,
  withAssignee,
  withValues,
} from './filter-values.ts'

test.each([
  ['', 'production', 'environment:production'],
  ['checkout', 'production', 'checkout environment:production'],
  ['env:staging checkout', 'production', 'env:[staging, production] checkout'],
  ['environment:[a, "b c"]', 'b c', 'environment:a'],
  ['environment:Production', 'production', undefined],
  ['a OR b', 'x y', '(a OR b) environment:"x y"'],
])('%s: the environment %s is chosen or not: %s', (q, value, expected) => {
  expect(toggled({ q }, 'environment', [value]).q).toBe(expected)
})

test('severity and platform are parameters, unless the query names them', () => {
  expect(toggled({ severity: ['high'] }, 'severity', ['critical'])).toEqual({ severity: ['critical', 'high'] })
  expect(toggled({ severity: ['high'] }, 'severity', ['high'])).toEqual({ severity: undefined })
  expect(chosenValues({ q: 'severity:low', severity: ['high'] }, 'severity')).toEqual(['low'])
  expect(toggled({ q: 'severity:low' }, 'severity', ['high'])).toEqual({ q: 'severity:[low, high]' })
  // An Android app sends Java and Kotlin: one choice.
  const android: IssuesSearch = { ...toggled({}, 'platform', ['java', 'kotlin']) }
  expect(android.platform).toEqual(['java', 'kotlin'])
  expect(toggled(android, 'platform', ['kotlin', 'java'])).toEqual({ platform: undefined })
  expect(withValues({ q: 'a release:1' }, 'release', [])).toEqual({ q: 'a' })
})

test('the assignee is read from the query and set beside it', () => {
  expect(chosenAssignee({ q: 'owner:me' })).toBe('me')
  expect(chosenAssignee({ assignee: 'none' })).toBe('none')
  expect(withAssignee({ q: 'a assigned:me' }, 'none')).toEqual({ q: 'a', assignee: 'none' })
})

test('what is set is counted and cleared; the rest of the query stays', () => {
  const search: IssuesSearch = {
    q: 'is:unresolved env:production tenant:acme -tenant:beta level:[error, fatal] events:>5 checkout',
    severity: ['high'],
    assignee: 'me',
  }
  expect(queriedTags(search)).toEqual(['tenant'])
  expect(countSet(search)).toBe(5)
  expect(cleared(search)).toEqual({
    q: 'is:unresolved -tenant:beta events:>5 checkout',
    severity: undefined,
    platform: undefined,
    assignee: undefined,
  })
  expect(countSet({ q: 'level:error OR level:fatal' })).toBe(0)
  expect(cleared({ q: 'release:1' }).q).toBeUndefined()
})
