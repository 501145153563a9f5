import { expect, test } from 'vitest'
import { labelled } from './field-errors.ts'

const LABELS = { slug: 'Short name', scrub_rules: 'Rule' }

test('an error names the field by its label, and an entry of a list by its number', () => {
  expect(labelled('slug takes lower-case letters.', LABELS)).toBe('Short name: takes lower-case letters.')
  expect(labelled('scrub_rules.0.path must not be empty.', LABELS)).toBe('Rule 1, path: must not be empty.')
  expect(labelled('scrub_rules.11 is not a rule.', LABELS)).toBe('Rule 12: is not a rule.')
})

test('a field without a label is named in plain words, never as in the API', () => {
  expect(labelled('name must not be empty.', LABELS)).toBe('Name must not be empty.')
  expect(labelled('events_per_day must not be negative.', LABELS)).toBe('Events per day must not be negative.')
  expect(labelled('newPassword must be longer.', LABELS)).toBe('New password must be longer.')
  expect(labelled('client_id must not be empty.', LABELS)).toBe('Client must not be empty.')
  expect(labelled('actions.1.config.url must be an address.', LABELS)).toBe(
    'Actions 2, config, url must be an address.',
  )
  expect(labelled('constructor must not be empty.', LABELS)).toBe('Constructor must not be empty.')
})

test('other sentences stay as they are', () => {
  expect(labelled('The project was deleted.', LABELS)).toBe('The project was deleted.')
  expect(labelled('iPhone apps have no such setting.', LABELS)).toBe('iPhone apps have no such setting.')
})
