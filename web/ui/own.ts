/**
 * What a table has of this name: names that come with events may be those every object inherits (`constructor`), and
 * what is found there breaks the page that draws it.
 */
export const own = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined
