/** Functions, operators and types of `pg_catalog` that statements may use. */

const names = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

/**
 * None reads settings, catalogs, files or other sessions, none changes anything, none makes a long text of a short one by
 * a count (`repeat`, `lpad`), and none collects rows into one value (`string_agg`, `array_agg`).
 */
export const FUNCTIONS = names(`
  count sum avg min max bool_and bool_or every stddev stddev_pop stddev_samp variance var_pop var_samp
  percentile_cont percentile_disc mode corr covar_pop covar_samp regr_slope regr_intercept regr_r2 regr_count
  row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value
  now statement_timestamp transaction_timestamp date_trunc date_part extract age date_bin isfinite timezone overlaps
  make_date make_interval make_timestamp make_timestamptz to_timestamp to_date to_char to_number
  justify_days justify_hours justify_interval date_add date_subtract
  abs ceil ceiling floor round trunc sign sqrt cbrt power exp ln log log10 mod div gcd lcm width_bucket
  degrees radians pi
  length char_length character_length octet_length lower upper initcap left right substring substr position strpos
  btrim ltrim rtrim replace split_part starts_with concat concat_ws reverse translate overlay
  regexp_replace regexp_like regexp_count regexp_substr regexp_instr
`)

/** The parser writes them around the pattern of LIKE … ESCAPE and SIMILAR TO. Called by themselves they would double a text. */
export const PATTERN_FUNCTIONS = names('like_escape similar_to_escape')

/** Functions whose third argument stands in place of each match: it is cut to {@link MAX_REPLACEMENT} characters. */
export const REPLACING = names('replace regexp_replace')
export const MAX_REPLACEMENT = 64

/** Functions that take numbers of any length for minutes, which nothing can interrupt: they get doubles. */
export const OF_DOUBLES = names('power exp ln log log10 sqrt cbrt')

/** Characters from which `to_number` makes a number: of a text it would have as many digits as the text. */
export const MAX_DIGITS = 40

/** Results that can be longer than their arguments: nested, they would double with each level. They are cut. */
export const GROWING = names('concat concat_ws replace regexp_replace overlay to_char')

/** Characters to which the result of a growing function or of `||` is cut. */
export const MAX_TEXT = 2_048

export const OPERATORS = names('= <> < <= > >= + - * / % ^ || ~ ~* !~ !~* ~~ ~~* !~~ !~~* @')

export const A_EXPR_KINDS = names(`
  AEXPR_OP AEXPR_OP_ANY AEXPR_OP_ALL AEXPR_DISTINCT AEXPR_NOT_DISTINCT AEXPR_NULLIF AEXPR_IN AEXPR_LIKE AEXPR_ILIKE
  AEXPR_SIMILAR AEXPR_BETWEEN AEXPR_NOT_BETWEEN AEXPR_BETWEEN_SYM AEXPR_NOT_BETWEEN_SYM
`)

export const SUBLINK_TYPES = names('EXISTS_SUBLINK ALL_SUBLINK ANY_SUBLINK EXPR_SUBLINK')

/** By the names that the parser gives them. */
export const TYPES = names(`
  text varchar bool int2 int4 int8 numeric float4 float8 date time timestamp timestamptz interval uuid
`)

export const VALUE_FUNCTIONS = names(`
  SVFOP_CURRENT_DATE SVFOP_CURRENT_TIMESTAMP SVFOP_CURRENT_TIMESTAMP_N SVFOP_LOCALTIMESTAMP SVFOP_LOCALTIMESTAMP_N
`)

/** The steps that `generate_series` may take: so large that a year of them is few rows. */
export const STEP = /^\s*([1-9]\d{0,5})\s*(minutes?|hours?|days?|weeks?|months?|years?)\s*$/i
