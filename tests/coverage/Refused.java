/* As refused.c: makes the calls of a plan on stdin through Java's own. */
import java.io.*;
import java.net.*;
import java.nio.channels.*;
import java.nio.file.*;
import java.nio.file.attribute.*;
import java.util.*;

public class Refused {
	static void call(String kind, String a, String b) throws Exception {
		Path p = a.isEmpty() ? null : Path.of(a);
		switch (kind) {
		case "open_write": new RandomAccessFile(a, "rw").close(); break;
		case "open_append":
			Files.newByteChannel(p, StandardOpenOption.APPEND).close();
			break;
		case "open_trunc": new FileOutputStream(a).close(); break;
		case "open_make": Files.writeString(p, "x"); break;
		case "open_excl": Files.createFile(p); break;
		case "unlink": Files.delete(p); break;
		case "rmdir": Files.delete(p); break;
		case "mkdir": Files.createDirectory(p); break;
		case "symlink": Files.createSymbolicLink(p, Path.of("to")); break;
		case "link": Files.createLink(Path.of(b), p); break;
		case "rename": Files.move(p, Path.of(b)); break;
		case "chmod":
			Files.setPosixFilePermissions(p,
			    PosixFilePermissions.fromString("rw-r--r--"));
			break;
		case "utimes":
			Files.setLastModifiedTime(p, FileTime.fromMillis(1));
			break;
		case "open_read": Files.readAllBytes(p); break;
		case "stat": Files.readAttributes(p, BasicFileAttributes.class); break;
		case "opendir": Files.newDirectoryStream(p).close(); break;
		case "spawn": new ProcessBuilder(a).start().waitFor(); break;
		case "unix_connect":
			SocketChannel.open(UnixDomainSocketAddress.of(p)).close();
			break;
		case "tcp": new Socket(a, Integer.parseInt(b)).close(); break;
		case "udp_send":
			try (DatagramSocket s = new DatagramSocket()) {
				s.send(new DatagramPacket(new byte[1], 1,
				    InetAddress.getByName(a), Integer.parseInt(b)));
			}
			break;
		default: throw new UnsupportedOperationException();
		}
	}

	public static void main(String[] args) throws Exception {
		long pid = ProcessHandle.current().pid();
		BufferedReader in = new BufferedReader(
		    new InputStreamReader(System.in));
		String line;

		while ((line = in.readLine()) != null) {
			String[] w = Arrays.copyOf(line.split(" "), 4);
			String rv = "0";
			try {
				call(w[1], w[2] == null ? "" : w[2], w[3]);
			} catch (UnsupportedOperationException e) {
				rv = "skip";
			} catch (IOException e) {
				rv = "-1";
			}
			System.out.println(w[0] + " " + pid + " " + rv);
			System.out.flush();
		}
	}
}
