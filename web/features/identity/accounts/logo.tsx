import styles from './logo.module.css'
/** The logo at page size: layers cut by a line, the right part lower. Computed, not drawn. */

type Layer = { y: number; width: number; strong: boolean }

const layer = (y: number, width = 0.7, strong = false): Layer => ({ y, width, strong })

const LAYERS: readonly Layer[] = [
  layer(-32, 1.2),
  layer(-1, 1.2),
  layer(31, 2.6, true),
  layer(62),
  layer(93, 1.2),
  layer(121),
  layer(160),
  layer(194, 1.2),
  layer(214),
  layer(238),
  layer(263, 1.2),
  layer(282, 1.2),
  layer(313),
  layer(351, 1.2),
  layer(386),
  layer(418),
  layer(434, 1.2),
  layer(474),
  layer(493, 1.2),
  layer(516, 1.2),
  layer(546, 2.6, true),
  layer(564, 2.6, true),
  layer(600),
  layer(615),
  layer(651),
  layer(678),
  layer(706, 1.2),
  layer(722, 1.2),
  layer(738),
  layer(769, 2.6, true),
  layer(794),
  layer(818),
  layer(852),
  layer(886),
  layer(915),
  layer(952),
  layer(970, 1.2),
  layer(1002),
  layer(1027),
  layer(1067, 2.6, true),
]

const WIDTH = 720
const STEP = 15
const SUNK = 46

/** The curve of a layer; it changes slowly from top to bottom. */
const bend = (x: number, y: number): number =>
  10 * Math.sin(x / 66 - 0.5 + y / 190) + 8 * Math.sin(x / 150 + 0.9 - y / 260) - 4

/** The x position of the cut at a height. */
const cutX = (y: number): number => 470 - 0.16 * y

const point = (x: number, y: number): string => `${x.toFixed(1)} ${y.toFixed(1)}`

function leftOf({ y }: Layer): string {
  const points: string[] = []
  let x = 0
  for (; x < cutX(y + bend(x, y)); x += STEP) points.push(point(x, y + bend(x, y)))
  const end = cutX(y + bend(x, y))
  return `M${[...points, point(end, y + bend(end, y))].join('L')}`
}

function rightOf({ y }: Layer): string {
  const start = cutX(y + SUNK + bend(cutX(y + SUNK), y))
  const points = [point(start, y + SUNK + bend(start, y))]
  for (let x = Math.ceil(start / STEP) * STEP; x <= WIDTH; x += STEP) points.push(point(x, y + SUNK + bend(x, y)))
  return `M${points.join('L')}`
}

export function Logo() {
  return (
    <svg className={styles.logo} viewBox={`0 0 ${WIDTH} 1000`} preserveAspectRatio="xMidYMid slice" aria-hidden="true">
      <g>
        {LAYERS.map((one) => (
          <g key={one.y} strokeWidth={one.width}>
            <path className={one.strong ? styles.strong : undefined} d={leftOf(one)} />
            <path className={one.strong ? `${styles.strong} ${styles.right}` : styles.right} d={rightOf(one)} />
          </g>
        ))}
      </g>
      <path className={styles.cut} d={`M${point(cutX(-20), -20)}L${point(cutX(1020), 1020)}`} />
    </svg>
  )
}
