import type { Locator, Page } from 'playwright-core'

/** The field of a query: chips and an input. */

export const queryField = (page: Page, name = 'Search issues'): Locator => page.getByRole('combobox', { name })

/** The query in the field: its chips and what is typed. */
export async function queryIn(field: Locator): Promise<string> {
  const parts = await field.locator('..').locator('input, button[title^="Edit "]').all()
  const texts = await Promise.all(
    parts.map(async (part) => (await part.getAttribute('title'))?.replace('Edit ', '') ?? part.inputValue()),
  )
  return texts.filter((text) => text !== '').join(' ')
}

/** Types another query. */
export async function replaceQuery(field: Locator, query: string): Promise<void> {
  await field.focus()
  // Escape closes the suggestions first.
  while ((await queryIn(field)) !== '') await field.press('Escape')
  await field.fill(query)
}
