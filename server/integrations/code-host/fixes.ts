/** Short ids of issues in messages of commits and texts of pull requests. Pure. */

export type NamedIssues = { readonly mentioned: readonly number[]; readonly fixed: readonly number[] }

/** Issues of one text: a list in a message is not endless. */
const MAX_ISSUES = 50
const MAX_CHARACTERS = 20_000

/**
 * `fixes SHOP-42, SHOP-43 and closes shop-44`: numbers of issues of a project, those behind a word that says so as fixed.
 * Case does not matter.
 */
export function findIssues(text: string, slug: string): NamedIssues {
  // A slug holds letters, digits and hyphens, none of which has a meaning in an expression.
  const id = `${slug.replaceAll(/[^a-z0-9-]/gi, '')}-(\\d{1,9})(?![\\p{L}\\p{N}_-])`
  const before = '(?<![\\p{L}\\p{N}_-])'
  const list = new RegExp(
    `${before}(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?)[ \\t]*:?[ \\t]+${id}(?:(?:[ \\t]*(?:,|&)[ \\t]*|[ \\t]+and[ \\t]+|[ \\t]*,[ \\t]+and[ \\t]+)${id})*`,
    'giu',
  )
  const one = new RegExp(before + id, 'giu')
  const cut = text.slice(0, MAX_CHARACTERS)
  const numbers = (found: string) => [...found.matchAll(one)].map(([, number]) => Number(number))
  const fixed = [...cut.matchAll(list)].flatMap(([found]) => numbers(found))
  return { mentioned: distinct(numbers(cut)), fixed: distinct(fixed) }
}

const distinct = (numbers: readonly number[]): number[] => [...new Set(numbers)].slice(0, MAX_ISSUES)
