/**
 * The organisation and project of the end-to-end test (`service/canary/`). They belong to no member: what counts or lists
 * organisations, projects or entries of the whole installation leaves them out. Fixed, so that leaving them out needs no
 * look-up.
 */
export const CANARY_ORG_ID = '00000000-0000-7000-8000-00000000ca00'
export const CANARY_PROJECT_ID = '00000000-0000-7000-8000-00000000ca01'
export const CANARY_RULE_ID = '00000000-0000-7000-8000-00000000ca02'
/** Also the id of its outbox lane. */
export const CANARY_ACTION_ID = '00000000-0000-7000-8000-00000000ca03'
/** The largest: projects of members have the numbers from 1 on. */
export const CANARY_PROJECT_NUMBER = 2_147_483_647
