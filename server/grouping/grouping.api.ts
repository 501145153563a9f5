import { z } from 'zod'

/** Why events meet: what contributed to a fingerprint, kept with the issue so that people can read it. */

export const GroupingPart = z.object({
  /** Which rule spoke: sdk_fingerprint, project_rule, exception_stack, thread_stack, type_value, message, anr, security, fallback; `rule` and `stack_rule` name rules of the project and are not part of the hash. */
  variant: z.string(),
  /** In the order they count. `label` says what it is, `value` what it was. */
  values: z.array(z.object({ label: z.string(), value: z.string() })),
})
export type GroupingPart = z.infer<typeof GroupingPart>
