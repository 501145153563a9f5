import { z } from 'zod'

/**
 * Reads the fields of `projects.settings` that one domain owns. Each field falls back to its default alone: a value that
 * this program does not understand must not reset the others.
 * @param shape every field with its default in `.catch()`
 */
export function storedSettings<S extends z.ZodRawShape>(shape: S): (stored: unknown) => z.output<z.ZodObject<S>> {
  const Stored = z.object(shape)
  return (stored) => {
    const parsed = Stored.safeParse(stored)
    return parsed.success ? parsed.data : Stored.parse({})
  }
}
