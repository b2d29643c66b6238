import { Group, Text } from '@mantine/core'
import icon from '../favicon.svg'

/** Symbol and name of the product. */
export function Brand({ large = false }: { large?: boolean }) {
  const size = large ? 36 : 24
  return (
    <Group gap="xs" wrap="nowrap" justify={large ? 'center' : 'flex-start'}>
      <img src={icon} alt="" width={size} height={size} />
      <Text fw={700} size={large ? 'xl' : 'lg'}>
        Gantry
      </Text>
    </Group>
  )
}
