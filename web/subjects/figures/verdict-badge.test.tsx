import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { gradeOfVerdict, VerdictBadge } from './verdict-badge.tsx'

const NUMBERS = {
  sessions: 20_000,
  crash_free_sessions: 0.996,
  fall: 0.004,
  standard_error: 0.0005,
  is_significant: true,
  previous: '3.10.0',
  age_hours: null,
  regressions: 2,
  decided_by: 'fall',
} as const

const judged = (
  verdict: Parameters<typeof gradeOfVerdict>[0]['verdict'],
  decidedBy: (typeof DECIDED)[number] | null,
) => ({
  verdict,
  verdict_reason: 'The whole reason.',
  verdict_numbers: { ...NUMBERS, decided_by: decidedBy },
})
const DECIDED = ['crash_free_sessions', 'fall', 'regressions', 'sessions'] as const
const textOf = (...of: Parameters<typeof judged>) =>
  renderToStaticMarkup(<VerdictBadge row={judged(...of)} />).replace(/<[^>]*>/g, '')

test('the chip gives the number that decided, and its title the whole reason', () => {
  expect(textOf('hold', 'fall')).toBe('Hold rollout: −0.40\u202fpt')
  expect(textOf('watch', 'crash_free_sessions')).toBe('Watch: 99.60\u202f%')
  expect(textOf('watch', 'regressions')).toBe('Watch: 2 regressions')
  expect(textOf('too_early', 'sessions')).toBe('Too early: 20,000 sessions')
  expect(textOf('healthy', 'crash_free_sessions')).toBe('Healthy')
  expect(textOf('archived', null)).toBe('Archived')
  expect(renderToStaticMarkup(<VerdictBadge row={judged('hold', 'fall')} />)).toContain('title="The whole reason."')
  const short = renderToStaticMarkup(<VerdictBadge row={judged('hold', 'fall')} short />)
  expect(short.replace(/<[^>]*>/g, '')).toBe('Hold rollout')
})

test('the dot beside a figure has the grade of the verdict, not of the bare rate', () => {
  // 99.60 % alone would be good.
  expect(gradeOfVerdict(judged('hold', 'fall'))).toBe('bad')
  expect(gradeOfVerdict(judged('watch', 'regressions'))).toBe('warn')
  expect(gradeOfVerdict(judged('healthy', 'crash_free_sessions'))).toBe('good')
  expect(gradeOfVerdict(judged('too_early', 'sessions'))).toBeNull()
})
