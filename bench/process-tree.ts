import { readdirSync, readFileSync } from 'node:fs'

export type ProcessShare = { pid: number; command: string; pssMiB: number }

/**
 * Memory of a process and its descendants, as proportional set size: a page shared by several processes counts once in
 * the sum. Linux only; needs permission to read the processes' maps (root, or the same user).
 */
export function memoryOfTree(root: number): ProcessShare[] {
  return treeOf(root).flatMap((pid) => {
    const share = shareOf(pid)
    return share === undefined ? [] : [share]
  })
}

/** A process and its descendants, parents first. */
export function treeOf(root: number): number[] {
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const parent = parentOf(Number(name))
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)])
  }
  const tree: number[] = []
  const queue = [root]
  for (let pid = queue.shift(); pid !== undefined; pid = queue.shift()) {
    tree.push(pid)
    queue.push(...(children.get(pid) ?? []))
  }
  return tree
}

function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return undefined
  }
}

function shareOf(pid: number): ProcessShare | undefined {
  try {
    const pssKiB = Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1])
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim().slice(0, 80)
    return { pid, command, pssMiB: pssKiB / 1024 }
  } catch {
    return undefined
  }
}
