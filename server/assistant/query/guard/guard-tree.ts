import {
  A_EXPR_KINDS,
  FUNCTIONS,
  GROWING,
  MAX_DIGITS,
  MAX_REPLACEMENT,
  MAX_TEXT,
  OF_DOUBLES,
  OPERATORS,
  PATTERN_FUNCTIONS,
  REPLACING,
  STEP,
  SUBLINK_TYPES,
  TYPES,
  VALUE_FUNCTIONS,
} from './allowed-names.ts'
import { NODES, PLACES, REFUSED_FIELDS, REFUSED_NODES } from './allowed-nodes.ts'
import { isViewName, SCHEMA, VIEW_NAMES, VIEWS, type ViewName } from '../catalogue.ts'
import { checkWork } from './check-work.ts'
import { receivedSince } from './received-since.ts'
import { DATA_CHANGE, RefusedStatement } from './refused-statement.ts'
import {
  callNode,
  castNode,
  columnNode,
  inside,
  integerNode,
  isStruct,
  readList,
  readName,
  readNames,
  readNode,
  operationNode,
  type Struct,
  readStruct,
  textNode,
  readText,
} from './tree.ts'

/**
 * The walk over a parsed statement. It refuses every part that is not listed, and puts in place of each view a sub-select
 * of the listed columns with the filter of the project. Names are resolved as PostgreSQL does: `a.b` calls a function
 * `b` when `a` has no such column.
 */

const MAX_DEPTH = 150
const MAX_VIEWS = 8
const MAX_COLUMNS = 100
/** `CUBE` of n columns groups 2^n times. */
const MAX_CUBE = 4

/** A name in a FROM clause, with its columns. */
type Relation = {
  readonly name: string | null
  readonly columns: Outputs
  readonly view: ViewName | null
}

/** Relations that an expression may name: those of its own level, then those of the statements around it. */
type Scope = {
  readonly relations: Relation[]
  readonly outer: Scope | null
  /** A join with USING or NATURAL merges columns, so that their order is not known. */
  isMerged: boolean
}

/** Names of the columns of a query. Names that PostgreSQL chooses in ways we do not know are null. */
type Outputs = { readonly names: readonly (string | null)[]; readonly isOrdered: boolean }

type Ctes = ReadonlyMap<string, Outputs>

/** Shared by the items of one FROM clause. */
type From = {
  readonly ctes: Ctes
  /** Names of the statement around this one. */
  readonly beyond: Scope | null
  readonly days: ReturnType<typeof receivedSince>
}

/** Where an expression stands. */
type Place = {
  readonly scope: Scope
  readonly ctes: Ctes
  /** Names of output columns, which GROUP BY and ORDER BY may use. */
  readonly outputs: readonly (string | null)[]
  /** Lists and rows of values may stand here, because they are only compared. */
  readonly isCompared?: boolean
  /** An operation around it cuts the text. */
  readonly isCut?: boolean
  /** It is an operand of LIKE or SIMILAR TO. */
  readonly isPattern?: boolean
}

const SERIES_FIELDS: ReadonlySet<string> = new Set(['funcname', 'args', 'funcformat', 'location'])

const LEAVES: ReadonlySet<string> = new Set(['String', 'Integer', 'Float', 'Boolean', 'A_Star', 'A_Const'])

type GuardedTree = { readonly views: readonly ViewName[] }

/**
 * Checks a statement and changes it in place.
 * @param statement the node of a statement, as the parser made it
 * @param projectId a UUID of our own, not of the statement
 * @throws RefusedStatement with the first part that is not permitted
 */
export function guardTree(statement: unknown, projectId: string): GuardedTree {
  const [type, select] = readNode(statement)
  if (type !== 'SelectStmt') throw new RefusedStatement('not_select', sentenceFor(type))
  const guard = new Guard(projectId, columnsNamed(statement))
  const { names } = guard.select(select, new Map(), null)
  checkWork(select)
  if (names.length === 0) throw new RefusedStatement('size', 'It selects nothing.')
  if (names.length > MAX_COLUMNS) throw new RefusedStatement('size', `It has more than ${MAX_COLUMNS} columns.`)
  return { views: [...guard.views] }
}

const READING = new Set(['ExplainStmt', 'VariableShowStmt', 'FetchStmt'])
const sentenceFor = (type: string): string =>
  READING.has(type) ? 'Only a SELECT over the views can run.' : DATA_CHANGE

class Guard {
  readonly views = new Set<ViewName>()
  readonly #projectId: string
  readonly #named: ReadonlySet<string> | null
  #depth = 0
  #references = 0

  /** @param named see {@link columnsNamed} */
  constructor(projectId: string, named: ReadonlySet<string> | null) {
    this.#projectId = projectId
    this.#named = named
  }

  select(select: Struct, known: Ctes, outer: Scope | null): Outputs {
    return this.#deeper(() => this.#select(select, known, outer))
  }

  #select(select: Struct, known: Ctes, outer: Scope | null): Outputs {
    this.#checkFields('SelectStmt', select)
    if (select['limitOption'] === 'LIMIT_OPTION_WITH_TIES')
      throw new RefusedStatement('node', 'WITH TIES is not permitted.')
    const ctes = this.#with(select['withClause'], known, outer)
    const scope: Scope = { relations: [], outer, isMerged: false }
    const outputs =
      select['op'] === 'SETOP_NONE'
        ? select['valuesLists'] === undefined
          ? this.#simple(select, ctes, scope)
          : this.#values(select, ctes, scope)
        : this.#union(select, ctes, outer)
    const place: Place = { scope, ctes, outputs: outputs.names }
    this.#each(select, 'sortClause', place)
    this.#one(select, 'limitOffset', place)
    this.#one(select, 'limitCount', place)
    return outputs
  }

  #union(select: Struct, ctes: Ctes, outer: Scope | null): Outputs {
    const left = this.select(readStruct(select['larg']), ctes, outer)
    this.select(readStruct(select['rarg']), ctes, outer)
    return left
  }

  #values(select: Struct, ctes: Ctes, scope: Scope): Outputs {
    const rows = readList(select['valuesLists'])
    const place: Place = { scope, ctes, outputs: [] }
    for (const row of rows) {
      const list = inside(row, 'List')
      if (list === undefined) throw new RefusedStatement('node', 'A row of VALUES is not understood.')
      this.#checkFields('List', list)
      this.#each(list, 'items', place)
    }
    const width = readList(inside(rows[0], 'List')?.['items']).length
    return { names: Array.from({ length: width }, (_, i) => `column${i + 1}`), isOrdered: true }
  }

  #simple(select: Struct, ctes: Ctes, scope: Scope): Outputs {
    const from: From = { ctes, beyond: scope.outer, days: receivedSince(select) }
    const items = readList(select['fromClause'])
    for (const [i, item] of items.entries()) items[i] = this.#from(item, scope, from)
    const place: Place = { scope, ctes, outputs: [] }
    this.#targets(readList(select['targetList']), place)
    this.#one(select, 'whereClause', place)
    this.#one(select, 'havingClause', place)
    this.#each(select, 'windowClause', place)
    const outputs = outputsOf(readList(select['targetList']), scope)
    const named: Place = { ...place, outputs: outputs.names }
    this.#each(select, 'groupClause', { ...named, isCompared: true })
    // A list with one empty node stands for DISTINCT without ON.
    const distinct = readList(select['distinctClause'])
    if (!(distinct.length === 1 && isStruct(distinct[0]) && Object.keys(distinct[0]).length === 0))
      this.#each(select, 'distinctClause', named)
    return outputs
  }

  /** Output columns. One whose text is cut keeps the name that PostgreSQL gave it without the cut. */
  #targets(targets: readonly unknown[], place: Place): void {
    for (const target of targets) {
      const struct = inside(target, 'ResTarget')
      if (struct === undefined) throw refusedNode(readNode(target)[0])
      const written = struct['val']
      this.#expression(target, place)
      if (struct['val'] !== written && struct['name'] === undefined) struct['name'] = figuredName(written) ?? '?column?'
    }
  }

  #with(clause: unknown, known: Ctes, outer: Scope | null): Ctes {
    if (clause === undefined) return known
    const struct = readStruct(clause)
    this.#checkFields('WithClause', struct)
    const ctes = new Map(known)
    for (const one of readList(struct['ctes'])) {
      const cte = inside(one, 'CommonTableExpr')
      if (cte === undefined) throw refusedNode(readNode(one)[0])
      this.#checkFields('CommonTableExpr', cte)
      const name = readText(cte['ctename'])
      if (isViewName(name))
        throw new RefusedStatement('name', `A part of WITH must not be named like the view ${name}.`)
      const [type, query] = readNode(cte['ctequery'])
      if (type !== 'SelectStmt') throw new RefusedStatement('not_select', DATA_CHANGE)
      ctes.set(name, renamed(this.select(query, ctes, outer), { name, columns: readNames(cte['aliascolnames']) }))
    }
    return ctes
  }

  /** Checks an item of FROM and adds what it names to the scope. @returns what stands in its place */
  #from(item: unknown, scope: Scope, from: From): unknown {
    return this.#deeper(() => {
      const [type, struct] = readNode(item)
      if (!(type in NODES)) throw refusedNode(type)
      this.#checkFields(type, struct)
      const alias = this.#alias(struct['alias'])
      switch (type) {
        case 'RangeVar':
          return this.#rangeVar(item, struct, alias, scope, from)
        case 'RangeSubselect': {
          const [inner, query] = readNode(struct['subquery'])
          if (inner !== 'SelectStmt') throw refusedNode(inner)
          const outputs = this.select(query, from.ctes, struct['lateral'] === true ? scope : from.beyond)
          scope.relations.push({ name: alias?.name ?? null, columns: renamed(outputs, alias), view: null })
          return item
        }
        case 'JoinExpr':
          return this.#join(item, struct, alias, scope, from)
        case 'RangeFunction':
          return this.#series(item, struct, alias, scope, from)
        default:
          throw refusedNode(type)
      }
    })
  }

  #rangeVar(item: unknown, struct: Struct, alias: Alias | undefined, scope: Scope, { ctes, days }: From): unknown {
    const name = readText(struct['relname'])
    if (struct['inh'] !== true) throw new RefusedStatement('node', 'ONLY is not permitted.')
    const relation = alias?.name ?? name
    const cte = ctes.get(name)
    if (cte !== undefined) {
      scope.relations.push({ name: relation, columns: renamed(cte, alias), view: null })
      return item
    }
    if (!isViewName(name))
      throw new RefusedStatement('view', `There is no view ${quoted(name)}. The views are ${VIEW_NAMES.join(', ')}.`)
    if (++this.#references > MAX_VIEWS)
      throw new RefusedStatement('size', `It names views more than ${MAX_VIEWS} times.`)
    this.views.add(name)
    const own: Outputs = { names: VIEWS[name].columns.map((column) => column.name), isOrdered: true }
    scope.relations.push({ name: relation, columns: renamed(own, alias), view: name })
    return {
      RangeSubselect: {
        subquery: this.#filtered(name, name === 'events' ? (days.get(relation) ?? []) : []),
        alias: struct['alias'] ?? { aliasname: name },
      },
    }
  }

  /**
   * The listed columns of a view that the statement names, with the filter of the project, and for events with the days
   * that a condition leaves.
   */
  #filtered(view: ViewName, since: readonly unknown[]): Struct {
    const all = VIEWS[view].columns.map(({ name }) => name)
    const used = all.filter((name) => this.#named === null || this.#named.has(name))
    const columns = used.length === 0 ? all.slice(0, 1) : used
    const isOfProject = operationNode('=', columnNode('project_id'), castNode(textNode(this.#projectId), 'uuid'))
    const conditions = [isOfProject, ...since.map((from) => operationNode('>=', columnNode('received_day'), from))]
    return {
      SelectStmt: {
        targetList: columns.map((name) => ({ ResTarget: { val: columnNode(name) } })),
        fromClause: [{ RangeVar: { schemaname: SCHEMA, relname: view, inh: true, relpersistence: 'p' } }],
        whereClause: conditions.length === 1 ? isOfProject : { BoolExpr: { boolop: 'AND_EXPR', args: conditions } },
        limitOption: 'LIMIT_OPTION_DEFAULT',
        op: 'SETOP_NONE',
      },
    }
  }

  #join(item: unknown, struct: Struct, alias: Alias | undefined, scope: Scope, from: From): unknown {
    const inner: Scope = { relations: [], outer: scope, isMerged: false }
    struct['larg'] = this.#from(struct['larg'], inner, from)
    struct['rarg'] = this.#from(struct['rarg'], inner, from)
    this.#one(struct, 'quals', { scope: { ...inner, outer: from.beyond }, ctes: from.ctes, outputs: [] })
    const using = readNames(struct['usingClause'])
    const merged = this.#alias(struct['join_using_alias'])
    if (merged !== undefined && merged.columns.length > 0)
      throw new RefusedStatement('name', 'Columns after USING (…) AS are not permitted.')
    if (merged !== undefined)
      inner.relations.push({ name: merged.name, columns: { names: using, isOrdered: true }, view: null })
    inner.isMerged ||= using.length > 0 || struct['isNatural'] === true
    if (alias === undefined) {
      scope.relations.push(...inner.relations)
      scope.isMerged ||= inner.isMerged
    } else scope.relations.push({ name: alias.name, columns: renamed(everything(inner), alias), view: null })
    return item
  }

  /** A function in FROM: only `generate_series` over times. */
  #series(item: unknown, struct: Struct, alias: Alias | undefined, scope: Scope, { ctes }: From): unknown {
    const functions = readList(struct['functions'])
    const list = inside(functions[0], 'List')
    // An empty node stands beside the call.
    const [node, columns, ...others] = readList(list?.['items'])
    const call = inside(node, 'FuncCall')
    const args = readList(call?.['args'])
    const step = inside(args[2], 'TypeCast')
    const every = inside(step?.['arg'], 'A_Const')?.['sval']
    if (
      list === undefined ||
      call === undefined ||
      functions.length !== 1 ||
      others.length > 0 ||
      Object.keys(readStruct(columns)).length > 0 ||
      Object.keys(call).some((key) => !SERIES_FIELDS.has(key)) ||
      functionOf(call) !== 'generate_series' ||
      args.length !== 3 ||
      step === undefined ||
      typeOf(step) !== 'interval' ||
      !STEP.test(isStruct(every) ? readText(every['sval']) : '')
    )
      throw new RefusedStatement(
        'function',
        "In FROM only generate_series(begin, end, interval '1 hour') is permitted, in steps of whole minutes or longer.",
      )
    this.#checkFields('List', list)
    this.#each(call, 'args', { scope, ctes, outputs: [] })
    const name = alias?.name ?? 'generate_series'
    const names = struct['ordinality'] === true ? [name, 'ordinality'] : [name]
    scope.relations.push({ name, columns: renamed({ names, isOrdered: true }, alias), view: null })
    return item
  }

  #alias(value: unknown): Alias | undefined {
    if (value === undefined) return undefined
    const struct = readStruct(value)
    this.#checkFields('Alias', struct)
    return { name: readText(struct['aliasname']), columns: readNames(struct['colnames']) }
  }

  #one(parent: Struct, field: string, place: Place): void {
    if (parent[field] !== undefined) parent[field] = this.#expression(parent[field], place)
  }

  #each(parent: Struct, field: string, place: Place): void {
    const list = readList(parent[field])
    for (const [i, one] of list.entries()) list[i] = this.#expression(one, place)
  }

  /** Checks an expression. @returns what stands in its place */
  #expression(node: unknown, place: Place): unknown {
    return this.#deeper(() => {
      const [type, struct] = readNode(node)
      const inner = this.#check(type, struct, place)
      if (type === 'SubLink') this.#subLink(struct, inner)
      else this.#fields(type, struct, inner)
      bound(type, struct)
      const grows = type === 'A_Expr' ? isConcatenation(struct) && place.isCut !== true : isGrowing(type, struct)
      return grows ? callNode('left', [node, integerNode(MAX_TEXT)]) : node
    })
  }

  #subLink(struct: Struct, place: Place): void {
    this.#checkFields('SubLink', struct)
    this.#one(struct, 'testexpr', place)
    const [type, query] = readNode(struct['subselect'])
    if (type !== 'SelectStmt') throw refusedNode(type)
    this.select(query, place.ctes, place.scope)
  }

  #fields(type: string, struct: Struct, place: Place): void {
    const fields = NODES[type]
    if (fields === undefined) throw refusedNode(type)
    this.#checkFields(type, struct)
    if (LEAVES.has(type)) return
    for (const [field, kind] of Object.entries(fields)) {
      if (struct[field] === undefined || kind === 'value') continue
      if (kind === 'node') this.#one(struct, field, place)
      else if (kind === 'nodes') this.#each(struct, field, place)
      else {
        const inner = readStruct(struct[field])
        this.#deeper(() => {
          if (kind.is === 'TypeName') checkType(inner)
          this.#fields(kind.is, inner, place)
        })
      }
    }
  }

  /** The rules of one node. @returns the place of what is inside it */
  #check(type: string, struct: Struct, place: Place): Place {
    // PostgreSQL takes the name of an output only where it stands by itself.
    const outputs = type === 'SortBy' || type === 'GroupingSet' || type === 'List' ? place.outputs : []
    const inner: Place = { ...place, outputs, isCompared: false, isCut: false, isPattern: false }
    switch (type) {
      case 'SelectStmt':
      case 'RangeVar':
      case 'RangeSubselect':
      case 'RangeFunction':
      case 'JoinExpr':
      case 'CommonTableExpr':
      case 'List':
        // A list is the right side of IN and BETWEEN.
        if (type === 'List' && place.isCompared === true) return place
        throw refusedNode(type)
      case 'ColumnRef':
        this.#column(struct, place)
        return inner
      case 'FuncCall':
        this.#call(struct, place)
        // `count(distinct (a, b))` compares its rows.
        return { ...inner, isCompared: struct['agg_distinct'] === true && functionOf(struct) === 'count' }
      case 'A_Expr': {
        const kind = readText(struct['kind'])
        if (!A_EXPR_KINDS.has(kind)) throw new RefusedStatement('operator', 'An operator in it is not permitted.')
        checkOperator(struct['name'], kind)
        // One cut around a chain of `||` is enough: chains are short, and what they join is cut.
        return { ...inner, isCompared: true, isCut: isConcatenation(struct), isPattern: LIKE.test(kind) }
      }
      case 'RowExpr':
      case 'A_ArrayExpr':
        if (place.isCompared !== true)
          throw new RefusedStatement('node', 'A row or an array of values is permitted only in a comparison.')
        return inner
      case 'SubLink': {
        if (!SUBLINK_TYPES.has(readText(struct['subLinkType'])))
          throw new RefusedStatement('node', 'ARRAY(SELECT …) is not permitted.')
        if (struct['operName'] !== undefined) checkOperator(struct['operName'], 'AEXPR_OP')
        return { ...inner, isCompared: true }
      }
      case 'SQLValueFunction':
        if (!VALUE_FUNCTIONS.has(readText(struct['op'])))
          throw new RefusedStatement('function', 'The current user, role, catalog and schema are not permitted.')
        return inner
      case 'GroupingSet':
        if (struct['kind'] === 'GROUPING_SET_CUBE' && readList(struct['content']).length > MAX_CUBE)
          throw new RefusedStatement('size', `CUBE takes at most ${MAX_CUBE} columns.`)
        return { ...inner, isCompared: true }
      default:
        return inner
    }
  }

  #call(call: Struct, { isPattern }: Place): void {
    const name = functionOf(call)
    const isListed = name !== null && (FUNCTIONS.has(name) || (isPattern === true && PATTERN_FUNCTIONS.has(name)))
    if (!isListed) {
      const full = readNames(call['funcname']).join('.')
      throw new RefusedStatement('function', `The function ${quoted(full)} is not permitted.`)
    }
  }

  /** Refuses names that no relation has: PostgreSQL would look for a function of the name. */
  #column(struct: Struct, { scope, outputs }: Place): void {
    const fields = readList(struct['fields'])
    const [first, second] = [readName(fields[0]), readName(fields[1])]
    const isStar = inside(fields.at(-1), 'A_Star') !== undefined
    if (fields.length === 1 && isStar) return
    if (
      fields.length > 2 ||
      first === undefined ||
      (second === undefined && !(isStar && fields.length === 2) && fields.length !== 1)
    )
      throw new RefusedStatement('column', 'A column is named by itself or with its view: column, view.column.')
    if (fields.length === 1) {
      for (let at: Scope | null = scope; at !== null; at = at.outer)
        if (at.relations.some(({ columns }) => columns.names.includes(first))) return
      if (outputs.includes(first)) return
      throw new RefusedStatement('column', `There is no column ${quoted(first)}.${this.#columnsOf(scope)}`)
    }
    const relation = find(scope, first)
    if (relation === undefined) throw new RefusedStatement('column', `FROM names nothing ${quoted(first)}.`)
    if (second !== undefined && !relation.columns.names.includes(second))
      throw new RefusedStatement(
        'column',
        `${quoted(first)} has no column ${quoted(second)}. It has ${relation.columns.names.slice(0, 30).join(', ')}.`,
      )
  }

  #columnsOf(scope: Scope): string {
    const view = scope.relations.find((one) => one.view !== null)?.view
    if (view === undefined || view === null) return ''
    return ` ${view} has ${VIEWS[view].columns.map(({ name }) => name).join(', ')}.`
  }

  /** Refuses fields that are not listed for the type. */
  #checkFields(type: string, struct: Struct): void {
    const fields = NODES[type]
    if (fields === undefined) throw refusedNode(type)
    for (const [field, value] of Object.entries(struct)) {
      if (PLACES.has(field)) continue
      const kind = fields[field]
      const words = REFUSED_FIELDS[`${type}.${field}`]
      if (kind === undefined)
        throw new RefusedStatement(
          'field',
          words === undefined
            ? `A part of it (${type}.${field}) is not permitted.`
            : `${capital(words)} is not permitted.`,
        )
      const fits =
        kind === 'nodes'
          ? Array.isArray(value)
          : kind === 'value'
            ? !isStruct(value) && !Array.isArray(value)
            : isStruct(value)
      if (!fits) throw new RefusedStatement('field', `A part of it (${type}.${field}) is not understood.`)
    }
  }

  #deeper<T>(work: () => T): T {
    if (++this.#depth > MAX_DEPTH) throw new RefusedStatement('size', 'It is nested too deeply.')
    try {
      return work()
    } finally {
      this.#depth--
    }
  }
}

/** Every name in a statement that may be a column; null when it may name columns in another way, such as `*`. */
function columnsNamed(statement: unknown): ReadonlySet<string> | null {
  const named = new Set<string>()
  let isOpen = false
  const visit = (value: unknown, depth: number): void => {
    if (depth > MAX_DEPTH * 10) throw new RefusedStatement('size', 'It is nested too deeply.')
    if (Array.isArray(value)) {
      for (const one of value) visit(one, depth + 1)
      return
    }
    if (!isStruct(value)) return
    if ('A_Star' in value || value['isNatural'] === true || 'colnames' in value) isOpen = true
    const name = readName(value)
    if (name !== undefined) named.add(name)
    for (const one of Object.values(value)) visit(one, depth + 1)
  }
  visit(statement, 0)
  return isOpen ? null : named
}

const LIKE = /^AEXPR_(?:LIKE|ILIKE|SIMILAR)$/

/** Bounds the values that an expression makes of others. */
function bound(type: string, struct: Struct): void {
  if (type === 'A_Expr' && readNames(struct['name']).at(-1) === '^' && struct['kind'] === 'AEXPR_OP')
    for (const side of ['lexpr', 'rexpr']) struct[side] = asDouble(struct[side])
  const name = type === 'FuncCall' ? functionOf(struct) : null
  if (name === null) return
  const args = readList(struct['args'])
  if (OF_DOUBLES.has(name)) struct['args'] = args.map(asDouble)
  if (name === 'to_number') args[0] = callNode('left', [args[0], integerNode(MAX_DIGITS)])
  if (REPLACING.has(name) && args[2] !== undefined && !isShortText(args[2]))
    args[2] = callNode('left', [args[2], integerNode(MAX_REPLACEMENT)])
}

/** A sum: the printer writes a cast around a cast in another form, in which additions could not be found. */
const asDouble = (node: unknown): Struct => operationNode('+', node, castNode(textNode('0'), 'float8'))

const isShortText = (node: unknown): boolean => {
  const text = inside(node, 'A_Const')?.['sval']
  return isStruct(text) && readText(text['sval']).length <= MAX_REPLACEMENT
}

type Alias = { readonly name: string; readonly columns: readonly string[] }

const refusedNode = (type: string): RefusedStatement => {
  if (/^(Insert|Update|Delete|Merge)Stmt$/.test(type)) return new RefusedStatement('not_select', DATA_CHANGE)
  return new RefusedStatement('node', `${capital(REFUSED_NODES[type] ?? type)} is not permitted here.`)
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

/** A name of the statement in a message: short, in one line. */
const quoted = (name: string): string => `“${name.replaceAll(/\s+/g, ' ').slice(0, 60)}”`

/** Columns after an alias that names columns. When their order is not known, only the new names can be used. */
function renamed(columns: Outputs, alias: Alias | undefined): Outputs {
  const names = alias?.columns ?? []
  if (names.length === 0) return columns
  return { ...columns, names: columns.isOrdered ? [...names, ...columns.names.slice(names.length)] : names }
}

/** The columns of `*`. */
const everything = ({ relations, isMerged }: Scope): Outputs => ({
  names: relations.flatMap(({ columns }) => columns.names),
  isOrdered: !isMerged && relations.every(({ columns }) => columns.isOrdered),
})

function find(scope: Scope | null, name: string): Relation | undefined {
  for (let at = scope; at !== null; at = at.outer) {
    const found = at.relations.find((one) => one.name === name)
    if (found !== undefined) return found
  }
  return undefined
}

function outputsOf(targets: readonly unknown[], scope: Scope): Outputs {
  const parts = targets.map((target): Outputs => {
    const struct = inside(target, 'ResTarget')
    const fields = readList(inside(struct?.['val'], 'ColumnRef')?.['fields'])
    if (inside(fields.at(-1), 'A_Star') === undefined)
      return { names: [readText(struct?.['name']) || figuredName(struct?.['val'])], isOrdered: true }
    if (fields.length === 1) return everything(scope)
    return find(scope, readName(fields[0]) ?? '')?.columns ?? { names: [], isOrdered: false }
  })
  return { names: parts.flatMap(({ names }) => names), isOrdered: parts.every(({ isOrdered }) => isOrdered) }
}

/** The name that PostgreSQL gives a column without AS, as far as we know it. */
function figuredName(value: unknown): string | null {
  if (!isStruct(value) || Object.keys(value).length !== 1) return null
  const [type, struct] = readNode(value)
  switch (type) {
    case 'ColumnRef':
      return readName(readList(struct['fields']).at(-1)) ?? null
    case 'FuncCall':
      return readNames(struct['funcname']).at(-1) ?? null
    case 'TypeCast':
      return figuredName(struct['arg']) ?? typeOf(struct)
    case 'CoalesceExpr':
      return 'coalesce'
    case 'MinMaxExpr':
      return struct['op'] === 'IS_GREATEST' ? 'greatest' : 'least'
    case 'CaseExpr':
      return figuredName(struct['defresult']) ?? 'case'
    default:
      return null
  }
}

/** The name of a function of `pg_catalog`; null for names with another schema. */
function functionOf(call: Struct): string | null {
  const [first, second, ...more] = readNames(call['funcname'])
  if (first === undefined || more.length > 0) return null
  if (second === undefined) return first
  return first === 'pg_catalog' ? second : null
}

const isConcatenation = (struct: Struct): boolean =>
  struct['kind'] === 'AEXPR_OP' && readNames(struct['name']).at(-1) === '||'

/** `to_char` with a written format is as long as the format. */
const isGrowing = (type: string, struct: Struct): boolean => {
  const name = type === 'FuncCall' ? functionOf(struct) : null
  if (name === null || !GROWING.has(name)) return false
  return name !== 'to_char' || inside(readList(struct['args'])[1], 'A_Const') === undefined
}

function checkOperator(name: unknown, kind: string): void {
  const [first, second, ...more] = readNames(name)
  const operator = second ?? first ?? ''
  const isOfCatalog = second === undefined || first === 'pg_catalog'
  const isWord = /^AEXPR_(NOT_)?BETWEEN/.test(kind) && /^(NOT )?BETWEEN( SYMMETRIC)?$/.test(operator)
  if (!(isOfCatalog && more.length === 0 && (isWord || OPERATORS.has(operator))))
    throw new RefusedStatement('operator', `The operator ${quoted(readNames(name).join('.'))} is not permitted.`)
}

function typeOf(cast: Struct): string {
  const names = readNames(readStruct(cast['typeName'])['names'])
  return names.at(-1) ?? ''
}

function checkType(type: Struct): void {
  const names = readNames(type['names'])
  const name = names.at(-1) ?? ''
  const isOfCatalog = names.length === 1 || (names.length === 2 && names[0] === 'pg_catalog')
  if (!isOfCatalog || !TYPES.has(name))
    throw new RefusedStatement('type', `The type ${quoted(names.join('.'))} is not permitted.`)
}
