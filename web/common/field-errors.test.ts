import { expect, test } from 'vitest'
import { labelled } from './field-errors.ts'

const LABELS = { slug: 'Short name', scrub_rules: 'Rule' }

test('an error names the field by its label, and an entry of a list by its number', () => {
  expect(labelled('slug takes lower-case letters.', LABELS)).toBe('Short name: takes lower-case letters.')
  expect(labelled('scrub_rules.0.path must not be empty.', LABELS)).toBe('Rule 1, path: must not be empty.')
  expect(labelled('scrub_rules.11 is not a rule.', LABELS)).toBe('Rule 12: is not a rule.')
})

test('other sentences stay as they are', () => {
  expect(labelled('The project was deleted.', LABELS)).toBe('The project was deleted.')
  expect(labelled('name must not be empty.', LABELS)).toBe('name must not be empty.')
  expect(labelled('constructor must not be empty.', LABELS)).toBe('constructor must not be empty.')
})
