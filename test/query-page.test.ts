import { expect, test } from 'vitest'
import { VIEW_NAMES, VIEWS } from '#server/assistant/query/catalogue.ts'
import { translateQuestion } from '#server/assistant/query/translator/translate-question.ts'
import { queryTexts } from '../web/features/assistant/query/texts.ts'

/** The texts of the page Query about views and questions, compared with the server. */

test('the page lists the views with their columns', () => {
  expect(queryTexts.viewList.map(([name, , columns]) => [name, columns.split(' ')])).toEqual(
    VIEW_NAMES.map((name) => [name, VIEWS[name].columns.map((column) => column.name)]),
  )
})

test.each(queryTexts.exampleList)('the example "%s" is understood', (question) => {
  const none = {
    release: [],
    environment: [],
    os: [],
    device: [],
    platform: [],
    exception_type: [],
    screen: [],
    transaction: [],
  }
  const written = translateQuestion(
    question,
    none,
    '01890000-0000-7000-8000-000000000000',
    new Date('2026-11-25T12:00Z'),
  )
  expect('refusal' in written ? written.refusal.message : null).toBeNull()
})
