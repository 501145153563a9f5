import { expect, test } from 'vitest'
import { scheduleInWords } from './schedule-words.ts'

const crontab = (value: string) => scheduleInWords({ type: 'crontab', value, unit: null })

test.each([
  ['* * * * *', 'Every minute'],
  ['*/5 * * * *', 'Every 5 minutes'],
  ['0 * * * *', 'Every hour'],
  ['15 * * * *', 'Every hour at :15'],
  ['0 */6 * * *', 'Every 6 hours'],
  ['30 */6 * * *', 'Every 6 hours at :30'],
  ['30 2 * * *', 'Every day at 02:30'],
  ['0 9 * * 1-5', 'Every weekday at 09:00'],
  ['0 9 * * mon', 'Every Monday at 09:00'],
  ['0 9 * * 0,3,6', 'Sunday, Wednesday and Saturday at 09:00'],
  ['0 5 1 * *', 'On the 1st at 05:00'],
  ['0 5 12 * *', 'On the 12th at 05:00'],
  ['0 5 23 * *', 'On the 23rd at 05:00'],
  ['@daily', 'Every day at 00:00'],
])('%s is in words: %s', (value, words) => {
  expect(crontab(value)).toBe(words)
})

test.each([
  '*/7 * * * *',
  '0 0 l * *',
  '0 0 1 1 *',
  '0 0 1 * 1',
  '0-30 * * * *',
  '0 9,17 * * *',
  '@yearly',
  '0 0 * * 5l',
])('%s keeps its notation', (value) => {
  expect(crontab(value)).toBeNull()
})

test('an interval is in words', () => {
  expect(scheduleInWords({ type: 'interval', value: 10, unit: 'minute' })).toBe('Every 10 minutes')
  expect(scheduleInWords({ type: 'interval', value: 1, unit: 'day' })).toBe('Every day')
})
