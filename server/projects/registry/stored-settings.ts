import { z } from 'zod'

/**
 * Returns a reader of the fields of `projects.settings` that one domain owns. An invalid value falls back to its default
 * and does not reset the others.
 * @param shape every field with its default in `.catch()`
 */
export function storedSettings<S extends z.ZodRawShape>(shape: S): (stored: unknown) => z.output<z.ZodObject<S>> {
  const Stored = z.object(shape)
  return (stored) => {
    const parsed = Stored.safeParse(stored)
    return parsed.success ? parsed.data : Stored.parse({})
  }
}
