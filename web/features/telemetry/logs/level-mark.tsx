import type { LogLevel } from '../../../api/log-queries.ts'
import { classNames } from '../../../ui/class-names.ts'
import { Icon, type IconName } from '../../../ui/icon.tsx'
import statusStyles from '../../../ui/status.module.css'
import typeStyles from '../../../ui/type.module.css'
import { logsTexts } from './texts.ts'

const LOOKS: Readonly<Record<LogLevel, readonly [IconName, string | undefined]>> = {
  fatal: ['bolt', typeStyles.red],
  error: ['x', typeStyles.red],
  warn: ['warn', typeStyles.amber],
  info: ['info', typeStyles.blue],
  debug: ['code', typeStyles.slate],
  trace: ['more', typeStyles.slate],
}

/** The level of a line: icon, word and colour. */
export const LevelMark = ({ level }: { level: LogLevel }) => (
  <span className={classNames(statusStyles.word, LOOKS[level][1])}>
    <Icon name={LOOKS[level][0]} />
    {logsTexts.levelNames[level]}
  </span>
)
