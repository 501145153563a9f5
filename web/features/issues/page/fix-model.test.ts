import { expect, test } from 'vitest'
import { type FixedIssue, listFixSteps } from './fix-model.ts'

const AT = '2026-11-20T11:39:00.000Z'
type Fix = FixedIssue['code']['fix']
type Change = NonNullable<Fix['change']>
type Release = NonNullable<Fix['release']>

const change = (over: Partial<Change>): Change => ({
  kind: 'pull',
  label: '#12',
  title: 'Check the bank',
  url: 'https://code.example/12',
  author: 'Robin',
  state: 'open',
  says_fix: true,
  at: AT,
  ...over,
})
const release = (over: Partial<Release> = {}): Release => ({
  id: 'r',
  version: 'shop@4.12.1',
  is_planned: false,
  released_at: AT,
  first_seen: null,
  deploy: null,
  ...over,
})
const issue = (fix: Partial<Fix>, resolution: FixedIssue['resolution'] = null): FixedIssue => ({
  status: resolution === null ? 'unresolved' : 'resolved',
  status_changed_at: AT,
  resolution,
  code: { provider: 'gitlab', fix: { change: null, branch: 'main', release: null, reports_deploys: false, ...fix } },
})
const commit = { in_commit: 'a3f91c2aaaa' }

test.each([
  ['nothing', issue({}), []],
  ['resolved by hand', issue({}, { now: true }), []],
  [
    'an open pull request',
    issue({ change: change({}) }),
    ['… Merge request is open', '… Merged to main', '… Released', '… In use'],
  ],
  [
    'a commit of a branch',
    issue({ change: change({ kind: 'commit', state: 'mentioned' }), branch: null }),
    ['Committed', '… Merged to the default branch', '… Released', '… In use'],
  ],
  [
    'a merge, in a project that reports deploys',
    issue({ change: change({ state: 'fixes' }), reports_deploys: true }, commit),
    ['Merged to main', '… Released', '… Deployed'],
  ],
  [
    'a release',
    issue({ change: change({ state: 'fixes' }), release: release() }, { in_release: 'shop@4.12.1' }),
    ['Merged to main', 'Released in 4.12.1', '… In use'],
  ],
  [
    'a release in use',
    issue({ change: change({ state: 'fixes' }), release: release({ first_seen: AT }) }, { in_release: 'shop@4.12.1' }),
    ['Merged to main', 'Released in 4.12.1', 'In use'],
  ],
  [
    'a deploy',
    issue(
      { change: change({ state: 'fixes' }), release: release({ deploy: { environment: 'production', at: AT } }) },
      { in_release: 'shop@4.12.1' },
    ),
    ['Merged to main', 'Released in 4.12.1', 'Deployed to production'],
  ],
  ['resolved in a commit by hand', issue({}, commit), ['Resolved in commit a3f91c2', '… Released', '… In use']],
  [
    'resolved in a planned release',
    issue({ release: release({ is_planned: true }) }, { in_release: 'shop@4.12.1' }),
    ['Resolved', '… Release 4.12.1', '… In use'],
  ],
  ['resolved in the next release', issue({}, { in_next_release: true }), ['Resolved', '… Released', '… In use']],
])('%s', (_, given, expected) => {
  expect(listFixSteps(given).map(({ title, isDone }) => (isDone ? title : `… ${title}`))).toEqual(expected)
})
