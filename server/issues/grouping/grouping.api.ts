import { z } from 'zod'

/** The parts of a fingerprint, stored with the issue to explain its grouping. */

export const GroupingPart = z.object({
  /**
   * The rule that decided: sdk_fingerprint, project_rule, exception_stack, thread_stack, type_value, message, anr,
   * security, fallback, new_issue_budget; `rule` and `stack_rule` name rules of the project and are not part of the hash.
   */
  variant: z.string(),
  /** In the order of the hash. */
  values: z.array(z.object({ label: z.string(), value: z.string() })),
})
export type GroupingPart = z.infer<typeof GroupingPart>
